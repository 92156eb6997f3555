// A turn of the event loop: under load it serves many requests, and what each of them needs once may be done once
// for all.

let due: (() => void)[] = [];

/** Runs `work` when everything that arrived in this turn has been looked at. */
export function atEndOfTurn(work: () => void): void {
  if (due.length === 0) setImmediate(endTurn);
  due.push(work);
}

function endTurn(): void {
  const now = due;
  due = [];
  for (const work of now) work();
}

/**
 * Those who ask for the same within one turn share one answer. The work for it goes out at the end of the turn
 * at the earliest, so that to each of them it is as fresh as one of their own.
 */
export function sharedWithinTurn<Answer>(): (name: string, ask: () => Promise<Answer>) => Promise<Answer> {
  const asked = new Map<string, Promise<Answer>>();
  const forget = () => asked.clear();
  return (name, ask) => {
    const known = asked.get(name);
    if (known) return known;
    if (asked.size === 0) atEndOfTurn(forget);
    const answer = ask();
    asked.set(name, answer);
    return answer;
  };
}
