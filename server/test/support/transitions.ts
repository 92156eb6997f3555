// Records which transitions of the object ledger happen, and reads from docs/object-ledger.md which ones may.
import { readFile } from 'node:fs/promises';
import { rowsOf } from './database.ts';

/** Makes the database keep every change of state of an object. */
export const keepTransitions = (databaseUrl: string): Promise<object[]> =>
  rowsOf<object>(
    databaseUrl,
    `create table transitions (step text);
     create function keep_transition() returns trigger language plpgsql as $$ begin
       insert into transitions values (coalesce(old.state, 'none') || ' to ' || coalesce(new.state, 'none'));
       return null;
     end $$;
     create trigger keep_transition after insert or update or delete on objects
       for each row execute function keep_transition()`,
  );

/** The changes of state so far, sorted, such as `reserved to stored`. Prints how often each was seen. */
export async function seenTransitions(databaseUrl: string): Promise<string[]> {
  const seen = await rowsOf<{ step: string; times: number }>(
    databaseUrl,
    'select step, count(*)::int as times from transitions group by step order by step',
  );
  console.log(`transitions: ${seen.map(({ step, times }) => `${step} ${times}`).join(', ')}`);
  const isChange = (step: string) => new Set(step.split(' to ')).size > 1;
  return seen
    .map(({ step }) => step)
    .filter(isChange)
    .sort();
}

/** The edges of the state diagram, sorted. */
export async function drawnTransitions(): Promise<string[]> {
  const text = await readFile(new URL('../../../docs/object-ledger.md', import.meta.url), 'utf8');
  const [, diagram = ''] = /stateDiagram-v2\n(.*?)```/s.exec(text) ?? [];
  const edges = [...diagram.matchAll(/^ *(\S+) --> (\S+):/gm)];
  const toState = (name = '') => (name === '[*]' ? 'none' : name);
  return edges.map(([, from, to]) => `${toState(from)} to ${toState(to)}`).sort();
}
