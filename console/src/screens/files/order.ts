// The orders in which files of all folders can be listed.

export const orders = ['name', 'size', 'created_at'] as const;
export type Order = (typeof orders)[number];

export const readOrder = (given: string | null): Order | null =>
  orders.find((order) => order === given) ?? null;
