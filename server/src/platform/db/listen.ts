// Listens for notifications, on a connection of its own that is opened again whenever it is lost or old.
import pg from 'pg';
import { withTimeout } from '../../kernel/async/time-limit.ts';
import type { Logger } from '../log.ts';
import { type CurrentServer, type DatabaseTiming, prepareSession } from './session.ts';
import type { SilenceWatch } from './silence.ts';

interface ListenDeps {
  readonly config: pg.ClientConfig;
  readonly timing: DatabaseTiming;
  readonly silence: SilenceWatch;
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
    // One that is opened as the service stops would keep the process alive.
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
      // Only now: what is sent while the next one is being opened is heard by this one.
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
  /** Resolves when it is lost, or so old that another one should take over. */
  readonly isOver: Promise<void>;
  end(): Promise<void>;
}

/** A server that has fallen silent does not even say goodbye. */
const endPatienceMs = 3_000;

async function startListener(
  { config, timing, silence, server, log }: ListenDeps,
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
    const line = silence.watch(client.connection.stream, {
      session,
      silenceMsMax: timing.readMs,
      onOld: () => over(),
    });
    // Nothing is ever asked here otherwise, so silence would mean nothing.
    const asking = setInterval(() => {
      line.asked();
      const answered = () => line.answered();
      client.query('select 1').then(answered, answered);
    }, timing.suspiciousMs).unref();
    client.on('end', () => clearInterval(asking));
  } catch (error) {
    // One that is connected and may not listen, as to a standby, would stay connected for ever.
    client.connection.stream.destroy();
    throw error;
  }
  return {
    isOver,
    end: () =>
      withTimeout(
        endPatienceMs,
        client.end().catch(() => undefined),
      ),
  };
}
