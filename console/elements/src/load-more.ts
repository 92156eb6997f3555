// Loads the second file. The build puts the address of that file here, and hands it what both files use (vite.config.ts): a
// second copy of Preact could not draw into what the first one drew.

export const loadMore = () => import('./more.ts');
