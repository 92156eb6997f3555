/** Builds workspaces into their dist/, each only if one of its sources is newer than its last build. */
export function buildIfStale(
  ...workspaces: readonly ('server' | 'client' | 'cli' | 'console')[]
): Promise<void>;
