/** Compiles src/ into dist/ when anything in it is newer than the last build. */
export function buildIfStale(): void;
