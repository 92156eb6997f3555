// Profiles of people and scripts. Nothing is saved that the service does not accept.
import { type Client, createClient, PakhusError } from '@pakhus/client/node';
import { type Credential, connect, readCredential } from '../connection.ts';
import type { Call, Context } from '../frame/command.ts';
import { CommandError } from '../frame/failure.ts';
import { checkUrl, readProfiles, writeProfiles } from '../profiles.ts';
import { ask, isInteractive, readSecret } from '../prompt.ts';

interface LoginOptions {
  readonly url: string | undefined;
  readonly email: string | undefined;
}

const defaultProfile = 'default';

export async function login({ options, context }: Call<LoginOptions>): Promise<void> {
  const { env } = context;
  const url = checkUrl(options.url ?? (await askFor(context, 'URL of the service: ', 'pass --url')));
  const key = options.email ? await openSession(context, url, options.email) : await readKey(context);
  const client = createClient({ baseUrl: url, key, retries: 1 });
  const facts = await inspect(client, readCredential(key), context.signal);
  const { current, profiles } = await readProfiles(env);
  const name = context.profile ?? current ?? defaultProfile;
  await writeProfiles(env, {
    current: context.profile === undefined || current === null ? name : current,
    profiles: { ...profiles, [name]: { url, key } },
  });
  await context.out.print(
    { profile: name, url, ...facts },
    `Logged in to ${url} as ${describe(facts)}, profile ${name}`,
  );
}

async function askFor(
  context: Context,
  question: string,
  otherwise: string,
  isSecret = false,
): Promise<string> {
  if (!isInteractive(context))
    throw new CommandError('misused', `There is no terminal to ask on: ${otherwise}`);
  const answer = (await ask(context, question, isSecret)).trim();
  if (answer === '') throw new CommandError('misused', 'Nothing was typed');
  return answer;
}

async function readKey(context: Context): Promise<string> {
  const { env, stdin } = context;
  if (env.PAKHUS_KEY) return env.PAKHUS_KEY.trim();
  const key = isInteractive(context)
    ? await ask(context, 'Key (not shown): ', true)
    : await readSecret(stdin);
  if (key.trim() === '')
    throw new CommandError('misused', 'There is no key: set PAKHUS_KEY or write it to stdin');
  return key.trim();
}

/** Resolves to the token of the session. */
async function openSession(context: Context, url: string, email: string): Promise<string> {
  const client = createClient({ baseUrl: url, retries: 1 });
  const { signal, stdin } = context;
  const password = isInteractive(context)
    ? await ask(context, 'Password (not shown): ', true)
    : await readSecret(stdin);
  const answer = await client.auth.login({ email, password }, { signal });
  if ('token' in answer) return answer.token;
  const code = await askFor(context, 'Code of your second factor: ', 'log in with a key instead');
  const { challenge_token } = answer;
  return (await client.auth.twoFactor.login({ challenge_token, code }, { signal })).token;
}

export async function logout({ context }: Call): Promise<void> {
  const { env, signal } = context;
  const { current, profiles } = await readProfiles(env);
  const name = context.profile ?? current;
  const profile = name === null || !Object.hasOwn(profiles, name) ? undefined : profiles[name];
  if (name === null || profile === undefined)
    throw new CommandError('notFound', 'There is no profile to forget');
  if (readCredential(profile.key).kind === 'session') await endSession(profile.url, profile.key, signal);
  const { [name]: _, ...others } = profiles;
  const next = current === name ? (Object.keys(others)[0] ?? null) : current;
  await writeProfiles(env, { current: next, profiles: others });
  await context.out.print({ profile: name, current: next }, `Forgot the profile ${name}`);
}

/** An ended session is as good as one that is ended now. */
async function endSession(baseUrl: string, key: string, signal: AbortSignal): Promise<void> {
  await createClient({ baseUrl, key, retries: 1 })
    .auth.logout({ signal })
    .catch((error: unknown) => {
      if (!(error instanceof PakhusError && error.status === 401)) throw error;
    });
}

export async function whoami({ context }: Call): Promise<void> {
  const { client, target, credential } = await connect(context);
  const facts = await inspect(client, credential, context.signal);
  const { url, profile } = target;
  const lines = [
    `service     ${url}`,
    `profile     ${profile ?? 'none: PAKHUS_URL and PAKHUS_KEY are set'}`,
    `credential  ${describe(facts)}`,
    ...(facts.may.length > 0 ? [`may         ${facts.may.join(', ')}`] : []),
    ...(facts.expiresAt === null ? [] : [`expires     ${facts.expiresAt}`]),
  ];
  await context.out.print({ url, profile, ...facts }, lines.join('\n'));
}

interface Facts {
  readonly kind: string;
  readonly name: string | null;
  readonly may: readonly string[];
  readonly expiresAt: string | null;
  readonly userId: string | null;
  readonly spaceId: string | null;
}

const describe = ({ kind, name }: Facts): string => (name === null ? kind : `${kind} of ${name}`);

/** Throws if the service refuses the credential. */
async function inspect(client: Client, credential: Credential, signal: AbortSignal): Promise<Facts> {
  const { kind, userId, spaceId, scopes, expiresAt } = credential;
  const common = { name: null, expiresAt, userId, spaceId };
  if (kind === 'session') {
    const { role, email, expires_at } = await client.auth.me({ signal });
    const may = role === 'admin' ? ['administer the service'] : ['everything in its project'];
    return { ...common, kind: `${role} session`, name: email, may, expiresAt: expires_at };
  }
  if (userId !== null) {
    const user = client.user({ id: userId });
    const name = await allowed(async () => (await user.get({ signal })).external_id);
    return { ...common, kind, name, may: scopes ?? [] };
  }
  return { ...common, ...(await inspectKey(client, signal)) };
}

/** A key does not say what it is: only the key of a project may list keys. */
async function inspectKey(client: Client, signal: AbortSignal): Promise<{ kind: string; may: string[] }> {
  const isProject = (await allowed(() => client.project.keys.list({ limit: 1 }, { signal }).page())) !== null;
  if (isProject) return { kind: 'project key', may: ['everything in its project'] };
  const reads = {
    'users:read': () => client.users.list({ limit: 1 }, { signal }).page(),
    'plans:read': () => client.project.plans.list({ limit: 1 }, { signal }).page(),
    'stats:read': () => client.project.stats.overview({ signal }),
  };
  const may: string[] = [];
  for (const [scope, read] of Object.entries(reads))
    if ((await allowed<unknown>(read)) !== null) may.push(scope);
  return { kind: 'integration key', may };
}

/** Null if it is forbidden. */
async function allowed<Result>(read: () => Promise<Result>): Promise<Result | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof PakhusError && error.status === 403) return null;
    throw error;
  }
}
