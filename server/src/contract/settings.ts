// Every environment variable: its name, default, meaning and how its text is parsed. Only config.ts reads the
// environment itself.

import { isSentinelAddress, parseSentinelAddress, sentinelSchemes } from '../platform/redis-address.ts';

interface Variable<Value> {
  readonly meaning: string;
  readonly shown: string;
  /** `undefined` if the variable is not set. Throws an error that completes the sentence "<NAME> …". */
  read(text: string | undefined): Value;
}

const dayMs = 86_400_000;
const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: dayMs,
  w: 7 * dayMs,
};

function text(
  initial: string,
  meaning: string,
  check: (given: string) => void = () => undefined,
): Variable<string> {
  return {
    meaning,
    shown: initial,
    read: (given = initial) => {
      check(given);
      return given;
    },
  };
}

/** `check` throws as `read` does. */
function optional(
  meaning: string,
  check: (given: string) => void = () => undefined,
): Variable<string | null> {
  return {
    meaning,
    shown: '-',
    read: (given) => {
      if (given === undefined) return null;
      check(given);
      return given;
    },
  };
}

function integer(initial: number, min: number, max: number, meaning: string): Variable<number> {
  return {
    meaning,
    shown: String(initial),
    read: (given) => (given === undefined ? initial : readInteger(given, min, max)),
  };
}

function optionalInteger(min: number, max: number, meaning: string): Variable<number | null> {
  return {
    meaning,
    shown: '-',
    read: (given) => (given === undefined ? null : readInteger(given, min, max)),
  };
}

function readInteger(given: string, min: number, max: number): number {
  const value = /^\d{1,16}$/.test(given) ? Number(given) : Number.NaN;
  if (!(value >= min && value <= max)) throw new Error(`must be a whole number from ${min} to ${max}`);
  return value;
}

function oneOf<const Choice extends string>(
  choices: readonly [Choice, ...Choice[]],
  initial: Choice,
  meaning: string,
): Variable<Choice> {
  return {
    meaning: `${meaning} (${choices.join(', ')})`,
    shown: initial,
    read: (given = initial) => {
      const found = choices.find((choice) => choice === given);
      if (!found) throw new Error(`must be one of ${choices.join(', ')}`);
      return found;
    },
  };
}

function flag(meaning: string): Variable<boolean> {
  return {
    meaning,
    shown: 'false',
    read: (given = 'false') => {
      if (!/^(true|false|1|0)$/.test(given)) throw new Error('must be true or false');
      return given === 'true' || given === '1';
    },
  };
}

const longest = 3650 * dayMs;

function duration(initial: string, meaning: string): Variable<number> {
  return {
    meaning,
    shown: initial,
    read: (given = initial) => {
      const [, amount, unit] = /^(\d{1,9})(ms|s|m|h|d|w)?$/.exec(given) ?? [];
      const milliseconds = Number(amount) * (unitMs[unit ?? 's'] ?? Number.NaN);
      if (!(milliseconds >= 1000 && milliseconds <= longest))
        throw new Error('must be a time such as 15m, 12h or 7d, from 1s to 3650d');
      return milliseconds;
    },
  };
}

/** Paths are appended to `bare` URLs, so that these may have no query or fragment. */
function httpUrl(meaning: string, { bare }: { readonly bare: boolean }): Variable<string | null> {
  return {
    meaning,
    shown: '-',
    read: (given) => {
      if (given === undefined) return null;
      if (!/^https?:\/\//.test(given) || !URL.canParse(given))
        throw new Error('must be an http or https URL');
      if (/[^\x21-\x7e]|["\\]/.test(given))
        throw new Error('must be a URL in ASCII without spaces, quotes or backslashes');
      if (bare && /[?#]/.test(given)) throw new Error('must be a URL without a query or fragment');
      return bare ? given.replace(/\/+$/, '') : given;
    },
  };
}

/** The URL of a server. It must name a host, unless `local` allows a unix socket. */
function serverUrl(
  schemes: readonly string[],
  meaning: string,
  { local }: { readonly local: boolean } = { local: false },
): Variable<string | null> {
  return {
    meaning,
    shown: '-',
    read: (given) => {
      if (given === undefined) return null;
      if (!schemes.some((scheme) => given.startsWith(`${scheme}://`)))
        throw new Error(`must begin with ${schemes.join(':// or ')}://`);
      const named = local ? given.replace('@/', '@socket/') : given;
      // Does not repeat the value: it may hold a password.
      if (!URL.canParse(named))
        throw new Error('must be a URL: encode / @ : # ? and % in its password as %2F %40 %3A %23 %3F %25');
      if (!local && new URL(named).hostname === '') throw new Error('must name a host');
      return given;
    },
  };
}

function redisUrl(meaning: string): Variable<string | null> {
  const single = serverUrl(['redis', 'rediss', ...sentinelSchemes], meaning);
  return {
    ...single,
    read: (given) => {
      if (given === undefined || !isSentinelAddress(given)) return single.read(given);
      parseSentinelAddress(given);
      return given;
    },
  };
}

/** An empty list allows no foreign origin. */
function originList(meaning: string): Variable<readonly string[]> {
  return {
    meaning,
    shown: '-',
    read: (given) => {
      const origins = (given ?? '')
        .split(',')
        .map((origin) => origin.trim())
        .filter(Boolean);
      const wrong = origins.find((origin) => origin !== '*' && !isOrigin(origin));
      if (wrong)
        throw new Error(`contains "${wrong}", which is not an origin such as https://app.example.com`);
      if (origins.includes('*') && origins.length > 1)
        throw new Error('must be either * or a list of origins');
      return origins;
    },
  };
}

/**
 * Exactly what a browser sends as Origin: scheme, host and port. Apps in a web view use their own schemes, such as
 * capacitor://localhost, for which `URL` reports the origin as "null".
 */
export function isOrigin(value: string): boolean {
  // Patterns and lists are not supported.
  if (!URL.canParse(value) || value === 'null' || /[*,]/.test(value)) return false;
  const { origin, protocol, host } = new URL(value);
  return value === (origin === 'null' && host !== '' ? `${protocol}//${host}` : origin);
}

const most = Number.MAX_SAFE_INTEGER;

const jwtSecretMin = 16;

function checkSecret(given: string): void {
  if (given.length < jwtSecretMin) throw new Error(`must have at least ${jwtSecretMin} characters`);
}

function checkEncryptionKey(given: string): void {
  if (parseEncryptionKey(given) === null) throw new Error('must be 32 bytes in hex (64 digits) or base64');
}

/** Null if the text is not 32 bytes in hex or base64. */
export function parseEncryptionKey(text: string): Buffer | null {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  // Buffer.from skips invalid characters instead of failing.
  return /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : null;
}

export const variables = {
  HOST: text('127.0.0.1', 'Listen address'),
  PORT: integer(3000, 0, 65535, 'Listen port; 0 picks a free one and prints it'),
  METRICS_PORT: optionalInteger(
    0,
    65535,
    'Port of GET /metrics for Prometheus, on HOST; 0 picks a free one and logs it; off when unset',
  ),
  PUBLIC_URL: httpUrl("Absolute origin used in links; the request's Host when unset", { bare: true }),
  DATA_DIR: text('./data', 'Embedded database, objects, outbox and generated secrets'),
  DATABASE_URL: serverUrl(
    ['postgres', 'postgresql'],
    'PostgreSQL server (14 or newer); the embedded one when unset',
    { local: true },
  ),
  REDIS_URL: redisUrl(
    'Redis for limits and counters that all instances share, or its sentinels as redis+sentinel://a:26379,b:26379/name; per process when unset',
  ),
  S3_ENDPOINT: httpUrl('Address of the S3-compatible store', { bare: true }),
  S3_PUBLIC_ENDPOINT: httpUrl('Address of that store in download URLs; S3_ENDPOINT when unset', {
    bare: true,
  }),
  S3_REGION: text('us-east-1', 'Region used in S3 signatures'),
  S3_BUCKET: optional('Bucket of private objects; the disk below DATA_DIR when unset'),
  S3_ACCESS_KEY_ID: optional('S3 access key'),
  S3_SECRET_ACCESS_KEY: optional('S3 secret key'),
  S3_FORCE_PATH_STYLE: flag('Put the bucket into the path, not into the host name'),
  S3_PUBLIC_BUCKET: optional('Bucket behind R2_PUBLIC_URL, for public objects'),
  R2_PUBLIC_URL: httpUrl('Public address of the public objects, for permanent URLs', { bare: true }),
  JWT_SECRET: optional(
    'Signs tokens; generated into DATA_DIR when unset; at least 16 characters, better 32',
    checkSecret,
  ),
  JWT_SECRET_PREVIOUS: optional('The previous JWT_SECRET: what it signed stays valid', checkSecret),
  ENCRYPTION_KEY: optional(
    '32 bytes in hex or base64 that encrypt secrets of second factors and webhooks; derived from JWT_SECRET when unset',
    checkEncryptionKey,
  ),
  ENCRYPTION_KEY_PREVIOUS: optional(
    'The previous ENCRYPTION_KEY: what it encrypted stays readable',
    checkEncryptionKey,
  ),
  ADMIN_EMAIL: text('admin@pakhus.local', 'E-mail of the admin that the first start creates', (given) => {
    if (!/^[^\s@]+@[^\s@]+$/.test(given)) throw new Error('must be an e-mail address');
  }),
  ADMIN_PASSWORD: optional('Password of that admin; generated and printed once when unset', (given) => {
    if (given.length < 8 || Buffer.byteLength(given) > 256)
      throw new Error('must have at least 8 characters and at most 256 bytes');
  }),
  SMTP_URL: serverUrl(
    ['smtp', 'smtps'],
    'Mail server, needs PUBLIC_URL or RESET_URL; mails become .eml files below DATA_DIR/outbox when unset',
  ),
  MAIL_FROM: text('Pakhus <no-reply@pakhus.local>', 'Sender of mails'),
  RESET_URL: httpUrl('Page that a password-reset link opens; PUBLIC_URL/console/reset-password when unset', {
    bare: false,
  }),
  SCOPE_ENFORCEMENT: oneOf(['off', 'warn', 'enforce'], 'enforce', 'What happens if a scope is missing'),
  JWT_EXPIRES_IN: duration('7d', 'Lifetime of a session'),
  USER_TOKEN_TTL_SECONDS: integer(900, 1, 31_536_000, 'Lifetime of a user token'),
  SPACE_TOKEN_TTL_SECONDS: integer(86_400, 1, 31_536_000, 'Lifetime of a space token'),
  SIGNED_URL_EXPIRY_SECONDS: integer(
    604_800,
    1,
    31_536_000,
    'Lifetime of a download URL; at most 604800 with S3',
  ),
  RATE_LIMIT_MAX: integer(
    1000,
    1,
    most,
    'Requests per window for an integration, unless the admin, the project or the integration sets another limit',
  ),
  RATE_LIMIT_WINDOW_MS: integer(60_000, 1000, most, 'Length of that window'),
  API_CORS_ALLOW_ORIGINS: originList(
    'Origins whose pages may call with a session, comma-separated; * allows all, without credentials',
  ),
  TRUST_PROXY_HOPS: optionalInteger(
    0,
    32,
    'Use the n-th X-Forwarded-For entry from the right as the client address; 0 ignores the header',
  ),
  MAX_UPLOAD_BYTES: integer(5_368_709_120, 1, most, 'Largest file, whatever the plan allows'),
  UPLOAD_EXPIRY_SECONDS: integer(
    86_400,
    60,
    2_592_000,
    'How long an unfinished upload waits for its next byte',
  ),
  UPLOAD_104: flag(
    'Announce the URL of an upload by the IETF draft in a 104 response while its body arrives',
  ),
  WEBHOOK_ALLOW_PRIVATE: flag(
    'Let webhooks reach local and private addresses: for development, never where tenants are strangers',
  ),
  DISK_FREE_BYTES_MIN: optionalInteger(
    0,
    most,
    'Uploads get 503 when less is free on the disk of the objects; when unset, 1 GiB but at most 5 % of the disk',
  ),
  IMAGE_MAX_PIXELS: integer(50_000_000, 1, 1_000_000_000, 'Largest image that a job decodes, in pixels'),
  IMAGE_TIMEOUT_SECONDS: integer(
    30,
    1,
    3600,
    'CPU time for one image; wall-clock time may be ten times as long',
  ),
  IMAGE_MAX_ATTEMPTS: integer(3, 1, 100, 'Attempts before an image job fails for good'),
  IMAGE_CONCURRENCY: optionalInteger(1, 256, 'Images compressed at once; the number of cores when unset'),
  VARIANT_CACHE_BYTES: integer(
    1_073_741_824,
    0,
    most,
    'Most that the image variants of one project take in the store; those not used for longest are deleted first',
  ),
  REAPER_GRACE_SECONDS: integer(3600, 1, 31_536_000, 'Age at which an object without a row is an orphan'),
  REAPER_INTERVAL_SECONDS: integer(60, 1, 86_400, 'How often the reaper runs'),
  ROLE: oneOf(['all', 'api', 'worker'], 'all', 'What this process runs'),
  LOG_LEVEL: oneOf(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    'info',
    'Lowest level to log',
  ),
} as const;

export type Settings = {
  readonly [Name in keyof typeof variables]: ReturnType<(typeof variables)[Name]['read']>;
};
