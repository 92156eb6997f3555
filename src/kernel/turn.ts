// What many ask for within one turn of the event loop, and need only once.

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
    if (asked.size === 0) setImmediate(forget);
    const answer = ask();
    asked.set(name, answer);
    return answer;
  };
}
