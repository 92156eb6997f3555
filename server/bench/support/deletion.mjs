// What others notice while a user with very many files is deleted.
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { changesOf } from './every-request.mjs';
import { drive, pace } from './load.mjs';
import { query } from './sizes.mjs';

const seconds = 10;
/** The objects are removed after the reply. */
const afterMs = 10_000 * pace;
const hours = 3600;

/** `server.others` are the ids of other users. */
export async function deletionMeasures(server) {
  const loads = await loadsOf(server);
  const driveBoth = async (options) => {
    const both = Object.entries(loads).map(async ([what, load]) => [
      what,
      await drive({ ...load, ...options }),
    ]);
    return Object.fromEntries(await Promise.all(both));
  };
  await driveBoth({ seconds });
  const before = await driveBoth({ seconds });
  let over = false;
  const startedAt = performance.now();
  let tookMs = 0;
  const deleting = deleteUser(server).then(async () => {
    tookMs = performance.now() - startedAt;
    await delay(afterMs);
  });
  const settled = deleting.finally(() => {
    over = true;
  });
  const [during] = await Promise.all([driveBoth({ seconds: hours, until: () => over }), settled]);
  return [
    { name: 'deleting the user: duration', figure: tookMs / 1000, unit: 's' },
    ...Object.keys(loads).flatMap((what) => [
      { name: `deleting the user: ${what} of others, p99 before`, figure: before[what].p99Ms, unit: 'ms' },
      { name: `deleting the user: ${what} of others, p99 meanwhile`, figure: during[what].p99Ms, unit: 'ms' },
      {
        name: `deleting the user: ${what} of others, p99, ratio`,
        figure: during[what].p99Ms / before[what].p99Ms,
        unit: '',
        target: { atMost: 3 },
      },
    ]),
  ];
}

async function loadsOf(server) {
  const [reader, uploader] = server.others;
  const some = 'select id from files where user_id = $1 limit 1000';
  const { rows } = await query(server.database.url, some, [reader]);
  const headers = { authorization: `Bearer ${server.tenant.key}` };
  let turn = 0;
  const read = () => ({
    path: `/api/v1/project/users/${reader}/files/${rows[turn++ % rows.length].id}`,
    headers,
  });
  return {
    reads: { server, connections: 4, request: read },
    uploads: { ...changesOf(server, uploader)['upload 10 KiB'], connections: 4 },
  };
}

/** Not by `fetch`, which gives up after five minutes. */
function deleteUser({ url, tenant }) {
  const headers = { authorization: `Bearer ${tenant.key}` };
  return new Promise((resolve, reject) => {
    const path = `${url}/project/users/${tenant.userId}`;
    const deletion = request(path, { method: 'DELETE', headers }, (response) => {
      response.resume();
      if (response.statusCode === 204) resolve();
      else reject(new Error(`deleting the user got status ${response.statusCode}`));
    });
    deletion.on('error', reject);
    deletion.end();
  });
}
