// A turn of the event loop: under load it serves many requests, and what each of them needs once may be done once
// for all.
import { deferred } from './deferred.ts';

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
    // One that throws ends the process, unless somebody catches that: then the others run in the next turn.
    due = due.slice(at);
    if (due.length > 0) setImmediate(endTurn);
  }
}

/** What is asked for within one turn goes to `run` together, which resolves to the answers in the same order. */
export function gatheredByTurn<Item, Answer>(
  run: (items: readonly Item[]) => Promise<readonly Answer[]>,
): (item: Item) => Promise<Answer> {
  let items: Item[] = [];
  let answers = deferred<readonly Answer[]>();
  const ask = () => {
    run(items).then(answers.resolve, answers.reject);
    items = [];
    answers = deferred();
  };
  return (item) => {
    if (items.length === 0) atEndOfTurn(ask);
    const at = items.push(item) - 1;
    return answers.promise.then((all) => all[at] as Answer);
  };
}
