// Waiting that has an end.

/** Waits for `work`, but no longer than this: it goes on without whoever waited. */
export async function waitAtMost(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work, patience]).finally(() => clearTimeout(timer));
}
