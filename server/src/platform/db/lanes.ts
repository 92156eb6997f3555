// Connections that reads share. They are pipelined, which halves what a read costs; but whatever is behind a slow read
// waits for it. So nothing that waits for a row lock runs here, and a connection that has stopped answering gets no
// new reads.
import pg from 'pg';
import { atEndOfIteration } from '../../kernel/async/event-loop.ts';
import type { Logger } from '../log.ts';
import { explainOutage } from './outage.ts';
import { readPrepared } from './prepared-read.ts';
import { type CurrentServer, type DatabaseTiming, prepareSession, type Session } from './session.ts';
import type { Line, SilenceWatch } from './silence.ts';
import type { Sql } from './sql.ts';

export interface Lanes {
  read(statement: Sql): Promise<unknown[]>;
  close(): Promise<void>;
}

interface LaneDeps {
  readonly config: pg.ClientConfig;
  readonly timing: DatabaseTiming;
  readonly silence: SilenceWatch;
  readonly server: CurrentServer;
  readonly log: Logger;
}

export function openLanes(count: number, deps: LaneDeps): Lanes {
  const lanes = Array.from({ length: count }, () => openLane(deps));
  let laneIndex = 0;
  let turnHasLane = false;
  /** Reads of one turn of the event loop share a lane, and with it one write; the next turn takes the next. */
  const laneOfTurn = (): Lanes => {
    if (!turnHasLane) {
      turnHasLane = true;
      laneIndex = (laneIndex + 1) % lanes.length;
      atEndOfIteration(() => {
        turnHasLane = false;
      });
    }
    return lanes[laneIndex] as Lanes;
  };
  return {
    read: (statement) => laneOfTurn().read(statement),
    close: async () => void (await Promise.all(lanes.map((lane) => lane.close()))),
  };
}

interface LaneConnection {
  readonly client: pg.Client;
  readonly line: Line;
}

/**
 * For the server to give up before we do. A read that went on waiting for an operator's lock on a table would keep its
 * connection, beside the new one that we open, until there are no more.
 */
const limitsOf = ({ readMs }: DatabaseTiming): string =>
  `set lock_timeout = ${Math.ceil(readMs / 4)}; set statement_timeout = ${Math.ceil(readMs * 0.8)}`;

/** One connection at a time: opened when first needed, replaced when it is lost, old or slow. */
function openLane({ config, timing, silence, server, log }: LaneDeps): Lanes {
  let opening: Promise<LaneConnection> | null = null;
  let current: LaneConnection | null = null;
  /** Takes no more reads, and still waits for answers: one at most, or a slow server would get ever more of them. */
  let overtaken: LaneConnection | null = null;

  const forget = (client: pg.Client) => {
    if (current?.client === client) current = null;
    if (overtaken?.client === client) overtaken = null;
  };
  const connect = async (): Promise<LaneConnection> => {
    const client = new pg.Client({ ...config, pipeline: true } as pg.ClientConfig);
    client.on('error', (error) => {
      log.warn({ err: error }, 'a database connection was lost');
      forget(client);
    });
    client.on('end', () => forget(client));
    try {
      await client.connect();
      const session = await prepareSession(client, limitsOf(timing), timing);
      server.reached(session);
      return watched(client, session);
    } catch (error) {
      client.connection.stream.destroy();
      throw explainOutage(error);
    }
  };
  const watched = (client: pg.Client, session: Session): LaneConnection => {
    const line = silence.watch(client.connection.stream, {
      session,
      silenceMsMax: timing.readMs,
      onSlow: () => overtake(connection),
      onOld: () => void replace(connection),
    });
    const connection = { client, line };
    return connection;
  };
  const open = (): Promise<LaneConnection> => {
    opening ??= connect()
      .then((connection) => {
        current = connection;
        return connection;
      })
      .finally(() => {
        opening = null;
      });
    return opening;
  };
  const overtake = (connection: LaneConnection) => {
    if (current !== connection || overtaken) return;
    overtaken = connection;
    current = null;
    // It ends once it has answered what it was asked.
    void connection.client.end().catch(() => undefined);
  };
  /** Reads go on through the old one while the new one is being opened; then it answers what it was asked, and ends. */
  const replace = async (connection: LaneConnection) => {
    if (current !== connection) return;
    await open().catch(() => undefined);
    forget(connection.client);
    void connection.client.end().catch(() => undefined);
  };
  return {
    // Not async: a promise more for every read would cost more than the lane itself.
    read: (statement) =>
      current
        ? readPrepared(current.client, current.line, statement)
        : open().then(({ client, line }) => readPrepared(client, line, statement)),
    async close() {
      const last = await (opening?.catch(() => null) ?? current);
      await last?.client.end().catch(() => undefined);
    },
  };
}
