/** Compiles src/ of a workspace into its dist/ when anything in it is newer than the last build. */
export function buildIfStale(workspace: 'server' | 'client' | 'cli'): void;
