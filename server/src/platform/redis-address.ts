// Parses an address with several sentinels, which URL parsers reject:
// redis+sentinel://[user:password@]host:port,host:port/name of the primary[/database][?sentinel_password=…].

export interface SentinelAddress {
  readonly sentinels: readonly { readonly host: string; readonly port: number }[];
  /** What the sentinels call the primary. */
  readonly name: string;
  /** Of the Redis servers. */
  readonly username?: string;
  readonly password?: string;
  readonly sentinelUsername?: string;
  readonly sentinelPassword?: string;
  readonly database: number;
  readonly tls: boolean;
}

export const sentinelSchemes = ['redis+sentinel', 'rediss+sentinel'] as const;

export const isSentinelAddress = (text: string): boolean =>
  sentinelSchemes.some((scheme) => text.startsWith(`${scheme}://`));

const form = /^rediss?\+sentinel:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/([^/?#]+)(?:\/(\d{1,5}))?(?:\?([^#]*))?$/;
const hostForm = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/;
const usualPort = 26_379;

/** The error says what is expected and repeats nothing of the text, which may hold a password. */
export function parseSentinelAddress(text: string): SentinelAddress {
  const [, login = '', hosts = '', name = '', database = '0', query = ''] = form.exec(text) ?? [];
  const sentinels = hosts.split(',').map(parseSentinel);
  if (name === '' || sentinels.includes(null))
    throw new Error('must be like redis+sentinel://host:26379,host:26379/name-of-the-primary');
  const colon = login.indexOf(':');
  const more = new URLSearchParams(query);
  return {
    sentinels: sentinels.filter((sentinel) => sentinel !== null),
    name: decoded(name) ?? '',
    database: Number(database),
    tls: text.startsWith('rediss'),
    ...given('username', decoded(colon < 0 ? '' : login.slice(0, colon))),
    ...given('password', decoded(colon < 0 ? login : login.slice(colon + 1))),
    ...given('sentinelUsername', more.get('sentinel_username')),
    ...given('sentinelPassword', more.get('sentinel_password')),
  };
}

function parseSentinel(text: string): { host: string; port: number } | null {
  const [, host = '', port = usualPort] = hostForm.exec(text) ?? [];
  const isGood = host !== '' && Number(port) > 0 && Number(port) < 65_536;
  return isGood ? { host: host.replace(/^\[|\]$/g, ''), port: Number(port) } : null;
}

function decoded(text: string): string | null {
  try {
    return text === '' ? null : decodeURIComponent(text);
  } catch {
    throw new Error('must write % in its password as %25');
  }
}

const given = <Name extends string>(name: Name, value: string | null): { [key in Name]?: string } =>
  (value ? { [name]: value } : {}) as { [key in Name]?: string };
