// What happens when the page goes away: it asks before uploads are lost, and sends the deletions that still wait.
import type { Deletions } from './deletions.ts';
import type { Uploads } from './uploads.ts';

/** The browser may not send more than this many requests of a page that it leaves. */
const deletionsUnwarned = 20;

/** Returns what ends it. */
export function guardLeaving({ totals }: Uploads, deletions: Deletions): () => void {
  const ended = new AbortController();
  const { signal } = ended;
  addEventListener(
    'beforeunload',
    (event) => {
      const { running, waiting } = totals.peek();
      if (running + waiting > 0 || deletions.pending > deletionsUnwarned) event.preventDefault();
    },
    { signal },
  );
  // Twice: Firefox may cut off the first script that runs in a page that it leaves.
  for (let time = 0; time < 2; time++) addEventListener('pagehide', () => deletions.flush(), { signal });
  return () => ended.abort();
}
