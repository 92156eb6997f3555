// The cost of reading one user with a project key and with a user token, compared with a bare handler on the same
// database that does not authenticate. Concurrent requests of one caller for one user share a statement, so
// requests that share only the key are measured as well.
import { startBare } from './support/bare.mjs';
import { median, takeTurns, totalOf } from './support/load.mjs';
import { createUsers } from './support/tenant.mjs';

export const name = 'detail-read';

const cpuTarget = { atMost: 0.15 };
const ratioTarget = { atLeast: 0.6 };
const manyUsers = 200;

export async function run({ pakhus, other, tenant, databaseUrl, startServer }) {
  const bare = await startBare(startServer, databaseUrl);
  const readOf = (userId, credential) => ({
    path: `/api/v1/project/users/${userId}`,
    headers: { authorization: `Bearer ${credential}` },
  });
  const read = (server, credential) => ({ server, request: readOf(tenant.userId, credential) });
  const users = await createUsers(pakhus, tenant, manyUsers);
  let turn = 0;
  const readMany = (server) => ({
    server,
    request: () => readOf(users[turn++ % users.length], tenant.key),
  });
  const summaries = await takeTurns(
    {
      bare: { server: bare, request: { path: `/projects/${tenant.projectId}/users/${tenant.userId}` } },
      key: read(pakhus, tenant.key),
      token: read(pakhus, tenant.userToken),
      'key, many users': readMany(pakhus),
      ...(other && {
        'other key': read(other, tenant.key),
        'other token': read(other, tenant.userToken),
        'other key, many users': readMany(other),
      }),
    },
    { rounds: 16, seconds: 0.75, connections: 32 },
  );
  return Object.entries(summaries).flatMap(([who, rounds]) => {
    const { perSecond, cpuMsPerRequest, quietCpuMsPerRequest, p50Ms, p99Ms } = totalOf(rounds);
    const judged = who === 'key' || who === 'token';
    const ratio = median(rounds.map((round, index) => round.perSecond / summaries.bare[index].perSecond));
    return [
      { name: `${who}: requests`, figure: perSecond, unit: '1/s' },
      ...(who === 'bare'
        ? []
        : [
            {
              name: `${who}: ratio to bare server`,
              figure: ratio,
              unit: '',
              ...(judged && { target: ratioTarget }),
            },
          ]),
      {
        name: `${who}: CPU`,
        figure: cpuMsPerRequest,
        unit: 'ms/request',
        ...(judged && { target: cpuTarget }),
      },
      { name: `${who}: CPU, quiet rounds`, figure: quietCpuMsPerRequest, unit: 'ms/request' },
      { name: `${who}: latency, median`, figure: p50Ms, unit: 'ms' },
      { name: `${who}: latency, p99`, figure: p99Ms, unit: 'ms' },
    ];
  });
}
