// The cost of reading one user with a project key and with a user token, compared with a bare handler on the same
// database that does not authenticate. Concurrent requests of one caller for one user share a statement, so
// requests that share only the key are measured as well.
import { startBare } from './support/bare.mjs';
import { median, takeTurns } from './support/load.mjs';
import { bothSides, costsOfAll } from './support/measures.mjs';
import { createUsers } from './support/tenant.mjs';

export const name = 'detail-read';

const cpuTarget = { atMost: 0.25 };
const ratioTarget = { atLeast: 0.6 };
const manyUsers = 200;

export async function run({ pakhus, other, tenant, database, startServer }) {
  const bare = await startBare(startServer, database);
  const summaries = await takeTurns(
    {
      bare: { server: bare, request: { path: `/projects/${tenant.projectId}/users/${tenant.userId}` } },
      ...(await bothSides({ pakhus, other }, readsOn)),
    },
    { rounds: 16, seconds: 0.75, connections: 32 },
  );
  const toBare = (who) =>
    median(summaries[who].map((round, index) => round.perSecond / summaries.bare[index].perSecond));
  return [
    ...costsOfAll(summaries, { key: cpuTarget, token: cpuTarget }),
    { name: 'key: ratio to bare server', figure: toBare('key'), unit: '', target: ratioTarget },
    { name: 'token: ratio to bare server', figure: toBare('token'), unit: '', target: ratioTarget },
    { name: 'key, many users: ratio to bare server', figure: toBare('key, many users'), unit: '' },
  ];
}

async function readsOn(server) {
  const { key, userId, userToken } = server.tenant;
  const read = (id, credential) => ({
    path: `/api/v1/project/users/${id}`,
    headers: { authorization: `Bearer ${credential}` },
  });
  const users = await createUsers(server, server.tenant, manyUsers);
  let turn = 0;
  return {
    key: { server, request: read(userId, key) },
    token: { server, request: read(userId, userToken) },
    'key, many users': { server, request: () => read(users[turn++ % users.length], key) },
  };
}
