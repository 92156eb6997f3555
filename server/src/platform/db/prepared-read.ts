// A read on a pipelined connection. PostgreSQL describes the columns of a statement once for a connection, not
// again with every answer: taking 30 descriptions apart cost more than the one row that they described. A
// prepared statement whose columns have changed since fails by itself, so what was described stays true.
// Extends the Query of `pg`, which takes no other class on a pipelined connection.
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { atEndOfIteration } from '../../kernel/async/event-loop.ts';
import { onceFor } from '../../kernel/async/once-for.ts';
import { explainOutage } from './outage.ts';
import type { Line } from './silence.ts';
import type { Sql } from './sql.ts';

type Row = Record<string, unknown>;
type Settle<Value> = (value: Value) => void;

/** What `pg` calls on a query, as far as a read answers differently. */
interface QueryOfPg {
  name: string;
  prepare(connection: pg.Connection): void;
}

const Query = pg.Query as unknown as new (
  text: string,
  values: readonly unknown[],
  callback: (error: Error | null) => void,
) => QueryOfPg;

interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

interface Shape {
  readonly columns: readonly Column[];
  /** A row of nulls. */
  readonly empty: Row;
}

/** What is known of the statements that a connection has prepared. */
interface Described {
  readonly shapes: Map<string, Shape>;
  /** The same connection, except that it asks for no description. */
  readonly quiet: pg.Connection;
}

const noShape: Shape = { columns: [], empty: {} };

class PreparedRead extends Query {
  readonly #found: Row[] = [];
  #shape = noShape;
  #described: Described | null = null;
  #failure: unknown = null;

  constructor({ name, text, values }: Sql, line: Line, resolve: Settle<Row[]>, reject: Settle<unknown>) {
    const callback = (error: Error | null) => {
      line.answered();
      const failure = error ?? this.#failure;
      if (failure === null) resolve(this.#found);
      else reject(explainOutage(failure));
    };
    // Text and values apart, because `pg` copies a configuration object descriptor by descriptor.
    super(text, values, callback);
    this.name = name;
  }

  override prepare(connection: pg.Connection): void {
    this.#described = describedOn(connection);
    const shape = this.#described.shapes.get(this.name);
    if (shape) this.#shape = shape;
    super.prepare(shape ? this.#described.quiet : connection);
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    this.#shape = shapeOf(fields);
    this.#described?.shapes.set(this.name, this.#shape);
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    try {
      this.#found.push(rowOf(this.#shape, fields));
    } catch (error) {
      // Thrown from here, it would reach the socket and every other query with it.
      this.#failure ??= error;
    }
  }

  handleCommandComplete(): void {}
}

const describedOn = onceFor(
  (connection: pg.Connection): Described => ({
    shapes: new Map(),
    quiet: Object.create(connection, { describe: { value: () => undefined } }) as pg.Connection,
  }),
);

const shapeOf = (fields: readonly pg.FieldDef[]): Shape => ({
  columns: fields.map(({ name, dataTypeID }) => ({
    name,
    parse: pg.types.getTypeParser(dataTypeID, 'text'),
  })),
  empty: Object.fromEntries(fields.map(({ name }) => [name, null])),
});

/** Starts from a copy of `empty`, which costs half of what adding 30 fields one by one does. */
function rowOf({ columns, empty }: Shape, texts: readonly (string | null)[]): Row {
  const row = { ...empty };
  columns.forEach(({ name, parse }, index) => {
    const text = texts[index] as string | null;
    if (text !== null) row[name] = parse(text);
  });
  return row;
}

/** Runs one named statement on a pipelined client. */
export function readPrepared(client: pg.Client, line: Line, statement: Sql): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    gatherWrites(client.connection.stream);
    line.asked();
    client.query(new PreparedRead(statement, line, resolve, reject) as unknown as pg.Submittable);
  });
}

/** What one turn of the event loop asks of a connection leaves in one write. */
function gatherWrites(stream: Duplex): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  atEndOfIteration(() => stream.uncork());
}
