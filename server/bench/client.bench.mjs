// What the client costs its own process: uploads of 10 KiB with @pakhus/client, in turns with bare fetch, FormData and an
// Idempotency-Key. Each way runs in a process of its own, whose CPU time is read.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { buildIfStale } from '../../scripts/build.mjs';
import { processMs } from './support/cpu.mjs';
import { median, pace } from './support/load.mjs';

export const name = 'client';

const ways = ['fetch', 'client'];
const rounds = 10;
const filesOfRound = Math.max(50, Math.round(200 * pace));
/** Until the compiler is done with the code of an upload. */
const filesOfWarmUp = 5 * filesOfRound;
const program = fileURLToPath(new URL('support/send-small.mjs', import.meta.url));

export async function run({ pakhus, tenant }) {
  await buildIfStale('client');
  const senders = Object.fromEntries(ways.map((way) => [way, startSender(way, pakhus, tenant)]));
  const turns = Object.fromEntries(ways.map((way) => [way, []]));
  try {
    for (const way of ways) await senders[way].send(filesOfWarmUp);
    for (let round = 0; round < rounds; round++)
      for (const way of ways) turns[way].push(await senders[way].send(filesOfRound));
  } finally {
    for (const way of ways) await senders[way].stop();
  }
  const costOf = (way) => median(turns[way].map(({ cpuMs }) => cpuMs));
  return [
    ...ways.flatMap((way) => [
      { name: `${way}: uploads`, figure: median(turns[way].map(({ perSecond }) => perSecond)), unit: '1/s' },
      { name: `${way}: CPU of its process`, figure: costOf(way), unit: 'ms/file' },
    ]),
    {
      name: 'client: CPU, ratio to fetch',
      figure: median(turns.client.map(({ cpuMs }, round) => cpuMs / turns.fetch[round].cpuMs)),
      unit: '',
      target: { atMost: 1.05 },
    },
  ];
}

function startSender(way, { url }, { key, userId }) {
  const child = fork(program, [way], {
    env: { PATH: process.env.PATH, URL: url, KEY: key, USER_ID: userId },
  });
  const ended = once(child, 'exit').then(() => ['its process has ended']);
  return {
    async send(files) {
      const [startedAt, cpuBefore] = [performance.now(), processMs(child.pid)];
      child.send({ files });
      const [failure] = await Promise.race([once(child, 'message'), ended]);
      if (failure) throw new Error(`${way}: ${failure}`);
      return {
        cpuMs: (processMs(child.pid) - cpuBefore) / files,
        perSecond: (files / (performance.now() - startedAt)) * 1000,
      };
    },
    async stop() {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}
