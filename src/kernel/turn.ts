// A turn of the event loop: under load it serves many requests, and what each of them needs once may be done once
// for all.

let due: (() => void)[] = [];

/** Runs `work` when everything that arrived in this turn has been looked at; so is what `work` puts off in turn. */
export function atEndOfTurn(work: () => void): void {
  if (due.length === 0) setImmediate(endTurn);
  due.push(work);
}

function endTurn(): void {
  let at = 0;
  try {
    while (at < due.length) due[at++]?.();
  } finally {
    // One that throws costs the others no more than the wait for the next turn.
    due = due.slice(at);
    if (due.length > 0) setImmediate(endTurn);
  }
}
