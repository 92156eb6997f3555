/** Checks the sources in a folder; returns one sentence for each violation. */
export function checkFloors(src: string): string[];
