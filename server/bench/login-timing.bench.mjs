// Whether response times reveal an account: login with a wrong password and forgot-password, for existing and
// unknown accounts, one request at a time and in random order.
import { randomBytes } from 'node:crypto';
import { call } from './support/tenant.mjs';

export const name = 'login-timing';

/** Every request claims its own client address, and the proxy is trusted: otherwise the rate limit would apply. */
export const environment = { TRUST_PROXY_HOPS: '1' };

const accounts = 60;
/** Below the limits that lock an account or stop its mails. */
const loginsEach = 8;
const forgotsEach = 5;
/** How often the slower of two requests is the one with an account: 0.5 is a coin toss. */
const guessTarget = { atMost: 0.57 };

export async function run({ pakhus, tenant }) {
  const known = [];
  for (let n = 0; n < accounts; n++) known.push(await createAccount(pakhus, tenant.admin));
  const unknown = known.map(newEmail);
  const login = (email) => [401, '/auth/login', { email, password: 'not the password' }];
  const forgot = (email) => [200, '/auth/forgot-password', { email }];
  // Warm up connections, prepared statements and the compiler first.
  await measure(pakhus, login, known.map(newEmail), unknown.map(newEmail), 1);
  await measure(pakhus, forgot, known.map(newEmail), unknown.map(newEmail), 1);
  return [
    ...measuresOf('login', await measure(pakhus, login, known, unknown, loginsEach)),
    ...measuresOf('forgot-password', await measure(pakhus, forgot, known, unknown, forgotsEach)),
  ];
}

const newEmail = () => `bench-${randomBytes(6).toString('hex')}@example.com`;

async function createAccount(server, admin) {
  const email = newEmail();
  const body = { name: 'bench', email, password: 'a password of a tenant' };
  await call(server, 'POST', '/admin/projects', { as: admin, body });
  return email;
}

async function measure(server, requestFor, known, unknown, each) {
  const tosses = [...known.map((email) => ['existing', email]), ...unknown.map((email) => ['unknown', email])]
    .flatMap((one) => Array(each).fill(one))
    .map((one) => [Math.random(), one])
    .sort(([a], [b]) => a - b);
  const times = { existing: [], unknown: [] };
  for (const [, [kind, email]] of tosses) times[kind].push(await timeOf(server, requestFor(email)));
  return times;
}

async function timeOf(server, [status, path, body]) {
  const startedAt = performance.now();
  const response = await fetch(`${server.url}${path}`, {
    method: 'POST',
    // A new address for each request, to stay below the limit per address.
    headers: { 'content-type': 'application/json', 'x-forwarded-for': [...randomBytes(4)].join('.') },
    body: JSON.stringify(body),
  });
  await response.text();
  if (response.status !== status) throw new Error(`${path} answered ${response.status}`);
  return performance.now() - startedAt;
}

function measuresOf(what, times) {
  const figures = Object.entries(times).flatMap(([kind, list]) =>
    [10, 50, 90].map((percent) => ({
      name: `${what}, ${kind}: p${percent}`,
      figure: quantile(list, percent / 100),
      unit: 'ms',
    })),
  );
  return [
    ...figures,
    {
      name: `${what}: accounts guessed right by time`,
      figure: guessing(times),
      unit: '',
      target: guessTarget,
    },
  ];
}

/** The share of all pairs of an existing and an unknown account in which the usually slower kind is slower. */
function guessing({ existing, unknown }) {
  let slower = 0;
  for (const one of existing)
    for (const other of unknown) slower += one > other ? 1 : one === other ? 0.5 : 0;
  const share = slower / (existing.length * unknown.length);
  return Math.max(share, 1 - share);
}

function quantile(numbers, share) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
