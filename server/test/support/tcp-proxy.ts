// A TCP proxy on loopback in front of a real PostgreSQL, Redis or Pakhus that a test can close, silence and reopen. It does not parse
// what it forwards.
import { once } from 'node:events';
import net from 'node:net';
import pg from 'pg';

export interface TcpProxy {
  readonly port: number;
  /** Drops every connection and refuses new ones. */
  goAway(): Promise<void>;
  /** Listens again, at the same address. */
  comeBack(): Promise<void>;
  /** Drops every connection and keeps accepting new ones. */
  cut(): void;
  /** Stops forwarding in both directions with all connections open, until `speak`. */
  fallSilent(): void;
  speak(): void;
  /** Cuts a connection when clients have sent that many more bytes in total, once for each number. Returns how many are left. */
  cutAfter(...bytes: readonly number[]): () => number;
  /** Delays every chunk by that long, each way. */
  delay(ms: number): void;
  /** Cuts a connection that sent this text when the server answers, that many times in total. Counts the cuts. */
  loseAnswersTo(text: string, times?: number): { readonly lost: () => number; stop(): void };
  /** Closes the proxy when the server answers this text, before any client can reconnect. */
  goAwayWithAnswerTo(text: string): void;
  /** Holds back the chunk with this text, and everything after it on its connection, until released. */
  hold(text: string): { readonly held: () => number; letGo(): void };
  /** Sends new connections to another server; existing ones stay. */
  switchTo(upstream: Upstream): void;
  close(): Promise<void>;
}

export type Upstream = { readonly host: string; readonly port: number } | { readonly path: string };

interface Loss {
  readonly text: string;
  left: number;
  lost: number;
  readonly afterwards?: () => unknown;
}

interface Hold {
  readonly text: string;
  held: number;
  readonly over: Promise<void>;
}

export async function startTcpProxy(first: Upstream): Promise<TcpProxy> {
  const pairs = new Set<readonly [net.Socket, net.Socket]>();
  const losses = new Set<Loss>();
  const holds = new Set<Hold>();
  let upstream = first;
  let silent = false;
  let delayMs = 0;
  let cuts: number[] = [];
  const server = net.createServer((near) => {
    const far = net.connect(upstream);
    const pair = [near, far] as const;
    pairs.add(pair);
    let doomed: Loss | null = null;
    for (const [from, to] of [pair, [far, near]] as const) {
      let order = Promise.resolve();
      from.on('data', (piece: Buffer) => {
        if (from === near) {
          const left = takeCut(piece);
          if (left !== null) {
            from.pause();
            void order.then(() => to.end(piece.subarray(0, left), () => from.destroy()));
            return;
          }
          doomed ??= takeLoss(piece);
          for (const hold of holds)
            if (piece.includes(hold.text)) {
              hold.held += 1;
              order = order.then(() => hold.over);
            }
        } else if (doomed) {
          doomed.lost += 1;
          for (const socket of pair) socket.destroy();
          doomed.afterwards?.();
          return;
        }
        const ms = delayMs;
        if (ms === 0) {
          void order.then(() => to.write(piece));
          return;
        }
        const due = new Promise<void>((resolve) => setTimeout(resolve, ms));
        order = order.then(() => due).then(() => void to.write(piece));
      });
      from.on('error', () => undefined);
      from.on('close', () => {
        pairs.delete(pair);
        void order.then(() => to.destroy());
      });
    }
    if (silent) for (const socket of pair) socket.pause();
  });
  const takeLoss = (piece: Buffer): Loss | null => {
    const found = [...losses].find((loss) => loss.left > 0 && piece.includes(loss.text)) ?? null;
    if (found) found.left -= 1;
    return found;
  };
  /** How much of the piece still passes, or null for all of it. */
  const takeCut = (piece: Buffer): number | null => {
    const [next] = cuts;
    if (next === undefined) return null;
    cuts = next <= piece.length ? cuts.slice(1) : [next - piece.length, ...cuts.slice(1)];
    return next <= piece.length ? next : null;
  };
  const listen = async (at: number) => {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
  };
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
  };
  const goAway = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    cut();
    await closed;
  };
  await listen(0);
  const { port } = server.address() as net.AddressInfo;

  return {
    port,
    goAway,
    comeBack: () => listen(port),
    cut,
    fallSilent() {
      silent = true;
      for (const pair of pairs) for (const socket of pair) socket.pause();
    },
    speak() {
      silent = false;
      for (const pair of pairs) for (const socket of pair) socket.resume();
    },
    cutAfter(...bytes) {
      cuts = [...bytes];
      return () => cuts.length;
    },
    delay(ms) {
      delayMs = ms;
    },
    loseAnswersTo(text, times = Number.POSITIVE_INFINITY) {
      const loss = { text, left: times, lost: 0 };
      losses.add(loss);
      return { lost: () => loss.lost, stop: () => void losses.delete(loss) };
    },
    goAwayWithAnswerTo(text) {
      losses.add({ text, left: 1, lost: 0, afterwards: goAway });
    },
    hold(text) {
      let letGo: () => void = () => undefined;
      const over = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const hold = { text, held: 0, over };
      holds.add(hold);
      return {
        held: () => hold.held,
        letGo: () => {
          holds.delete(hold);
          letGo();
        },
      };
    },
    switchTo(another) {
      upstream = another;
    },
    close: goAway,
  };
}

/** A proxy in front of a database server, and the database's URL through it. */
export async function proxyDatabase(url: string): Promise<{ proxy: TcpProxy; url: string }> {
  const { host, port, user, password, database } = new pg.Client({ connectionString: url });
  const proxy = await startTcpProxy(
    host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port },
  );
  const login = `${encodeURIComponent(user ?? '')}:${encodeURIComponent(password ?? '')}`;
  return { proxy, url: `postgres://${login}@127.0.0.1:${proxy.port}/${database}` };
}
