// Reads on a pipelined connection. PostgreSQL describes the columns of a prepared statement once per connection, not
// with every answer: parsing 30 descriptions costs more than the one row they describe. If the columns change, the
// prepared statement fails, so a description stays true. Extends the Query class of `pg`, the only one that a
// pipelined connection accepts; pg-internals.test.ts checks what this relies on.
import type { Duplex } from 'node:stream';
import pg from 'pg';
import { atEndOfIteration } from '../../kernel/async/event-loop.ts';
import type { WatchedConnection } from './connection-watch.ts';
import { explainOutage } from './outage.ts';
import type { Sql } from './sql.ts';

type Row = Record<string, unknown>;

/** The methods of a query that `pg` calls, as far as they are overridden here. */
interface PgQuery {
  name: string;
  prepare(connection: pg.Connection): void;
}

const Query = pg.Query as unknown as new (
  text: string,
  values: readonly unknown[],
  callback: (error: Error | null) => void,
) => PgQuery;

/** The named statements of one pipelined client. */
export class PreparedReads {
  readonly #client: pg.Client;
  readonly #watched: WatchedConnection;
  readonly #descriptions: Descriptions;

  constructor(client: pg.Client, watched: WatchedConnection) {
    this.#client = client;
    this.#watched = watched;
    this.#descriptions = {
      shapes: new Map(),
      silent: Object.create(client.connection, { describe: { value: () => undefined } }) as pg.Connection,
    };
  }

  read(statement: Sql): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      gatherWrites(this.#client.connection.stream);
      this.#watched.sent();
      const done = (error: unknown, rows: Row[]) => {
        this.#watched.answered();
        if (error === null) resolve(rows);
        else reject(explainOutage(error));
      };
      const query = new PreparedRead(statement, this.#descriptions, done);
      this.#client.query(query as unknown as pg.Submittable);
    });
  }
}

interface Column {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

interface Shape {
  readonly columns: readonly Column[];
  /** A row of nulls. */
  readonly empty: Row;
}

/** What one connection knows of the statements it has prepared. */
interface Descriptions {
  readonly shapes: Map<string, Shape>;
  /** The same connection, except that it never asks for a description. */
  readonly silent: pg.Connection;
}

const noShape: Shape = { columns: [], empty: {} };

class PreparedRead extends Query {
  readonly #rows: Row[] = [];
  readonly #descriptions: Descriptions;
  #shape = noShape;
  #failure: unknown = null;

  constructor(
    { name, text, values }: Sql,
    descriptions: Descriptions,
    done: (error: unknown, rows: Row[]) => void,
  ) {
    // Text and values as separate arguments, because `pg` copies a configuration object property by property.
    super(text, values, (error) => done(error ?? this.#failure, this.#rows));
    this.name = name;
    this.#descriptions = descriptions;
  }

  override prepare(connection: pg.Connection): void {
    const shape = this.#descriptions.shapes.get(this.name);
    if (shape) this.#shape = shape;
    super.prepare(shape ? this.#descriptions.silent : connection);
  }

  handleRowDescription({ fields }: { fields: pg.FieldDef[] }): void {
    this.#shape = toShape(fields);
    this.#descriptions.shapes.set(this.name, this.#shape);
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    try {
      this.#rows.push(toRow(this.#shape, fields));
    } catch (error) {
      // If this were thrown, it would reach the socket and fail every other query on it.
      this.#failure ??= error;
    }
  }

  handleCommandComplete(): void {}
}

const toShape = (fields: readonly pg.FieldDef[]): Shape => ({
  columns: fields.map(({ name, dataTypeID }) => ({
    name,
    parse: pg.types.getTypeParser(dataTypeID, 'text'),
  })),
  empty: Object.fromEntries(fields.map(({ name }) => [name, null])),
});

/** Starts from a copy of `empty`: half the cost of adding 30 fields one by one. */
function toRow({ columns, empty }: Shape, texts: readonly (string | null)[]): Row {
  const row = { ...empty };
  columns.forEach(({ name, parse }, index) => {
    const text = texts[index] as string | null;
    if (text !== null) row[name] = parse(text);
  });
  return row;
}

/** All statements of one event loop iteration leave in one write. */
function gatherWrites(stream: Duplex): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  atEndOfIteration(() => stream.uncork());
}
