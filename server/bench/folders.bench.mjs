// What whole folders cost: moving one with 100,000 files, alone and while another user of the same project uploads, in a silent project
// and in one that listens, and deleting it.
import { fillFiles } from './support/fill.mjs';
import { formHeaders, formOf } from './support/forms.mjs';
import { pace } from './support/load.mjs';
import { call, createUsers } from './support/tenant.mjs';

export const name = 'folders';

const files = Math.max(1_000, Math.round(100_000 * pace));
const body = formOf(10 * 1024);

export async function run({ pakhus }) {
  await fillFiles(pakhus, files, { folder: `'many/sub-' || (n % 100)` });
  const { tenant } = pakhus;
  const [otherUser] = await createUsers(pakhus, tenant, 1);
  const path = `/project/users/${tenant.userId}/folders`;
  const move = (from, to) => call(pakhus, 'POST', `${path}/move`, { as: tenant.key, body: { from, to } });
  const alone = await timed(() => move('many', 'moved'));
  const beside = await timedBeside(pakhus, otherUser, () => move('moved', 'again'));
  await call(pakhus, 'GET', '/project/events', { as: tenant.key });
  const told = await timed(() => move('again', 'many'));
  const deleted = await timedBeside(pakhus, otherUser, () =>
    call(pakhus, 'DELETE', `${path}?prefix=many`, { as: tenant.key }),
  );
  return [
    { name: 'files in the folder', figure: files, unit: '' },
    { name: 'move', figure: alone, unit: 's', target: { atMost: 5 * pace } },
    { name: 'move while another user uploads', figure: beside.seconds, unit: 's' },
    { name: 'uploads of another user, slowest while it moves', figure: beside.slowestMs, unit: 'ms' },
    { name: 'move, with an event for each file', figure: told, unit: 's' },
    { name: 'delete, with an event for each file', figure: deleted.seconds, unit: 's' },
    { name: 'uploads of another user, slowest while it is deleted', figure: deleted.slowestMs, unit: 'ms' },
  ];
}

async function timed(work) {
  const startedAt = performance.now();
  const { files: changed } = await work();
  // The one that the others are copies of is elsewhere.
  if (changed < files - 1) throw new Error(`Only ${changed} files were changed`);
  return (performance.now() - startedAt) / 1000;
}

/** How long it takes, and the slowest upload of somebody else meanwhile. */
async function timedBeside(server, userId, work) {
  let isDone = false;
  let slowestMs = 0;
  const uploading = (async () => {
    while (!isDone) {
      const startedAt = performance.now();
      const reply = await fetch(`${server.url}/project/users/${userId}/files`, {
        method: 'POST',
        headers: { authorization: `Bearer ${server.tenant.key}`, ...formHeaders },
        body,
      });
      if (reply.status !== 201) throw new Error(`An upload got ${reply.status}: ${await reply.text()}`);
      await reply.arrayBuffer();
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    }
  })();
  const seconds = await timed(work);
  isDone = true;
  await uploading;
  return { seconds, slowestMs };
}
