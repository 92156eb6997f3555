// Listens for notifications on a dedicated connection, which is reopened when it is lost or old.
import pg from 'pg';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import type { Logger } from '../log.ts';
import type { ConnectionWatch } from './connection-watch.ts';
import { type CurrentServer, type DatabaseTiming, prepareSession } from './session.ts';

interface ListenDeps {
  readonly config: pg.ClientConfig;
  readonly timing: DatabaseTiming;
  readonly watch: ConnectionWatch;
  readonly server: CurrentServer;
  readonly log: Logger;
}

const listenAgainMs = 1_000;

export async function listenOn(
  deps: ListenDeps,
  channel: string,
  hear: (payload: string) => void,
): Promise<() => Promise<void>> {
  let ended = false;
  let current: Listener | null = null;
  const start = async () => {
    const listener = await startListener(deps, channel, hear);
    current = listener;
    // A connection opened while the service stops would keep the process alive.
    if (ended) await listener.end();
    return listener;
  };
  const keep = async (first: Listener) => {
    let listener: Listener | null = first;
    while (!ended) {
      await listener?.isOver;
      if (!listener) await new Promise((resolve) => setTimeout(resolve, listenAgainMs).unref());
      const before: Listener | null = listener;
      listener = ended ? null : await start().catch(() => null);
      // Only now: this one still receives what is sent while the next one is being opened.
      await before?.end();
    }
  };
  void keep(await start());
  return async () => {
    ended = true;
    await current?.end();
  };
}

interface Listener {
  /** Resolves when the connection is lost or has reached its age. */
  readonly isOver: Promise<void>;
  end(): Promise<void>;
}

/** A silent server does not confirm the end of a connection. */
const endTimeoutMs = 3_000;

async function startListener(
  { config, timing, watch, server, log }: ListenDeps,
  channel: string,
  hear: (payload: string) => void,
): Promise<Listener> {
  const client = new pg.Client(config);
  client.on('error', (error) => log.warn({ err: error }, 'the listening database connection was lost'));
  client.on('notification', ({ payload = '' }) => hear(payload));
  let over: () => void = () => undefined;
  const isOver = new Promise<void>((resolve) => {
    over = resolve;
  });
  client.on('end', () => over());
  try {
    await client.connect();
    const session = await prepareSession(client, `listen ${channel}`, timing);
    server.reached(session);
    const watched = watch.add(client.connection.stream, {
      session,
      silenceMsMax: timing.readMs,
      onOld: () => over(),
    });
    // Nothing else is ever sent here, so without this silence would mean nothing.
    const asking = setInterval(() => {
      watched.sent();
      const answered = () => watched.answered();
      client.query('select 1').then(answered, answered);
    }, timing.suspiciousMs).unref();
    client.on('end', () => clearInterval(asking));
  } catch (error) {
    // A connection that may not listen, as to a standby, would stay open forever.
    client.connection.stream.destroy();
    throw error;
  }
  return {
    isOver,
    end: () =>
      withTimeout(
        endTimeoutMs,
        client.end().catch(() => undefined),
      ),
  };
}
