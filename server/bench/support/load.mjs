// The load: keep-alive connections, each with one request in flight. It speaks just enough HTTP/1.1 over plain
// sockets, because a client as heavy as the server would measure itself.
import { once } from 'node:events';
import { connect } from 'node:net';
import { cpuOf, cpuSince } from './cpu.mjs';

/** Shortens all turns, to see whether a bench works: its figures then mean little. */
export const pace = Number(process.env.BENCH_PACE ?? 1);

/**
 * Sends for `seconds` over `connections` and resolves to a summary. `server` is the target, with its `url`, `pid` and
 * `database`; `request` is one request, or a function that builds the next one, or null when there is none left. It ends
 * early once `until` is true. A reply with a status other than `expect` ends the run: the speed of failures is not of
 * interest. With `mayRefuse`, refusals for lack of capacity are counted instead.
 */
export async function drive({
  server,
  request,
  connections = 32,
  seconds,
  expect = 200,
  until = () => false,
  mayRefuse = false,
}) {
  const { hostname, port, host } = new URL(server.url);
  const next = typeof request === 'function' ? request : () => request;
  const constant = typeof request === 'function' ? null : bytesOf(host, request);
  const latencies = [];
  let refused = 0;

  const sockets = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      await once(socket, 'connect');
      return socket;
    }),
  );
  const cpuBefore = cpuOf(server);
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * pace * 1000;
  try {
    await Promise.all(
      sockets.map(async (socket) => {
        const exchange = exchangeOver(socket);
        for (;;) {
          const sentAt = performance.now();
          if (sentAt >= endsAt || until()) return;
          const following = constant ?? next();
          if (following === null) return;
          const status = await exchange(constant ?? bytesOf(host, following));
          if (status === 503 && mayRefuse) refused += 1;
          else if (status !== expect)
            throw new Error(`${server.url} answered ${status} instead of ${expect}`);
          latencies.push(performance.now() - sentAt);
        }
      }),
    );
    const tookMs = performance.now() - startedAt;
    return { ...summaryOf(latencies, tookMs, cpuSince(cpuBefore, cpuOf(server))), refused };
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

function bytesOf(host, { method = 'GET', path, headers = {}, body = '' }) {
  const bytes = Buffer.from(body);
  const lines = [`${method} ${path} HTTP/1.1`, `host: ${host}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (bytes.length > 0) lines.push(`content-length: ${bytes.length}`);
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), bytes]);
}

/** Sends a request and resolves to the status once the whole reply has arrived. */
function exchangeOver(socket) {
  let waiting = null;
  let head = null;
  let status = 0;
  let missing = 0;
  const fail = (error) => waiting?.reject(error ?? new Error('connection closed before the reply'));
  socket.on('error', fail);
  socket.on('close', () => fail());
  socket.on('data', (chunk) => {
    if (missing > 0) missing -= chunk.length;
    else {
      head = head === null ? chunk : Buffer.concat([head, chunk]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const text = head.latin1Slice(0, end);
      status = Number(text.slice(9, 12));
      missing = lengthOf(text, status) - (head.length - end - 4);
      head = null;
    }
    if (missing === 0) waiting.resolve(status);
    else if (!(missing > 0)) fail(new Error('reply is longer than its Content-Length, or has none'));
  });
  return (bytes) =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      socket.write(bytes);
    });
}

/** NaN for a reply without Content-Length: chunked replies are not supported. */
function lengthOf(head, status) {
  if (status === 204 || status === 304) return 0;
  return Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN);
}

function summaryOf(latencies, tookMs, cpuMs) {
  const requests = latencies.length;
  return {
    requests,
    tookMs,
    cpuMs,
    cpu: perRequest(cpuMs, requests),
    perSecond: (requests / tookMs) * 1000,
    p50Ms: median(latencies),
    p99Ms: quantile(latencies, 0.99),
  };
}

/** One summary for servers that were driven at the same time and share a database. */
export function mergeSummaries(summaries, databaseMs) {
  const total = (field) => summaries.reduce((before, summary) => before + field(summary), 0);
  const requests = total((summary) => summary.requests);
  const cpuMs = { service: total((summary) => summary.cpuMs.service), database: databaseMs };
  return {
    requests,
    tookMs: Math.max(...summaries.map(({ tookMs }) => tookMs)),
    cpuMs,
    cpu: perRequest(cpuMs, requests),
    perSecond: total((summary) => summary.perSecond),
    refused: total((summary) => summary.refused),
    p50Ms: median(summaries.map(({ p50Ms }) => p50Ms)),
    p99Ms: Math.max(...summaries.map(({ p99Ms }) => p99Ms)),
  };
}

const perRequest = ({ service, database }, requests) => ({
  service: service / requests,
  database: database / requests,
  sum: (service + database) / requests,
});

/**
 * Runs candidates in turns, so that other load on the machine affects all of them equally, each after its `prepare`, if
 * it has one. Resolves to one list of
 * summaries per candidate. The first round is a warm-up of `warmSeconds`: a service that is still being compiled
 * says little about its later cost.
 */
export async function takeTurns(candidates, { rounds, seconds, warmSeconds = seconds, connections }) {
  const summaries = Object.fromEntries(Object.keys(candidates).map((name) => [name, []]));
  for (const candidate of Object.values(candidates)) {
    await candidate.prepare?.();
    await drive({ ...candidate, seconds: warmSeconds, connections });
  }
  const order = Object.entries(candidates);
  for (let round = 0; round < rounds; round++) {
    // Whoever went last goes first: what one leaves behind, such as pages to flush, is not always borne by the same other one.
    for (const [name, candidate] of round % 2 === 0 ? order : order.toReversed()) {
      await candidate.prepare?.();
      summaries[name].push(await drive({ ...candidate, seconds, connections }));
    }
  }
  return summaries;
}

/**
 * What a request of one candidate costs for each of another, in CPU of the `part`: service, database or their sum. The
 * median of the turns, whose neighbours share the noise.
 */
export const ratioOfTurns = (ones, others, part = 'sum') =>
  median(ones.map(({ cpu }, turn) => cpu[part] / others[turn].cpu[part]));

/**
 * CPU over all rounds, and medians of the figures that vary with other load on the machine. Other load also empties
 * the caches and so raises CPU time: a fifth of the rounds were below `quietCpu`.
 */
export function totalOf(summaries) {
  const total = (field) => summaries.reduce((before, summary) => before + field(summary), 0);
  const requests = total((summary) => summary.requests);
  const cpuMs = {
    service: total((summary) => summary.cpuMs.service),
    database: total((summary) => summary.cpuMs.database),
  };
  return {
    requests,
    refused: total((summary) => summary.refused),
    cpu: perRequest(cpuMs, requests),
    quietCpu: quantile(
      summaries.map(({ cpu }) => cpu.sum),
      0.2,
    ),
    perSecond: median(summaries.map(({ perSecond }) => perSecond)),
    p50Ms: median(summaries.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(summaries.map(({ p99Ms }) => p99Ms)),
  };
}

export const median = (numbers) => quantile(numbers, 0.5);

export function quantile(numbers, share) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
