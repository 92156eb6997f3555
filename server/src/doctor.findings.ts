// What `pakhus doctor` finds. Parts of messages that are secrets are cut here, for all checks.
import type { Settings } from './contract/settings.ts';
import { withTimeout } from './kernel/async/time-limit.ts';
import { reasonOf } from './kernel/error.ts';

export type Status = 'ok' | 'warning' | 'failed' | 'skipped';

export interface Finding {
  readonly part: string;
  readonly status: Status;
  readonly message: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** One line for people. */
export const describeFinding = ({ status, part, message, advice }: Finding): string =>
  `${status.padEnd(7)}  ${part.padEnd(13)}  ${message}${advice === undefined ? '' : `: ${advice}`}`;

/** Reports about one part. */
export interface Report {
  ok(message: string): void;
  skipped(message: string): void;
  warning(message: string, advice: string): void;
  failed(message: string, advice: string): void;
}

export type Hear = (finding: Finding) => void;

const sectionMsMax = 60_000;

/** Runs the checks of one part. One that throws or hangs is a finding like any other. */
export async function examine(
  part: string,
  hear: Hear,
  work: (report: Report) => Promise<void>,
): Promise<void> {
  let isOver = false;
  const tell = (finding: Omit<Finding, 'part'>) => {
    if (!isOver) hear({ part, ...finding });
  };
  const report: Report = {
    ok: (message) => tell({ status: 'ok', message }),
    skipped: (message) => tell({ status: 'skipped', message }),
    warning: (message, advice) => tell({ status: 'warning', message, advice }),
    failed: (message, advice) => tell({ status: 'failed', message, advice }),
  };
  try {
    await withTimeout(sectionMsMax, work(report), () => {
      throw new Error(`no answer within ${sectionMsMax / 1000} s`);
    });
  } catch (error) {
    report.failed(
      `could not be checked (${reasonOf(error)})`,
      'run the command again, and look at the log of that part',
    );
  }
  isOver = true;
}

/** An address as it may be shown: without login and parameters. */
export const showAddress = (url: string): string => url.replace(/\/\/[^/]*@/, '//').replace(/\?.*$/, '');

/** Cuts every configured secret, wherever a message of another program may have repeated it. */
export function hideSecrets(settings: Settings, hear: Hear): Hear {
  const secrets = [
    settings.JWT_SECRET,
    settings.JWT_SECRET_PREVIOUS,
    settings.ENCRYPTION_KEY,
    settings.ENCRYPTION_KEY_PREVIOUS,
    settings.ADMIN_PASSWORD,
    settings.S3_SECRET_ACCESS_KEY,
    ...[settings.DATABASE_URL, settings.REDIS_URL, settings.SMTP_URL].flatMap(passwordsIn),
  ].filter((secret): secret is string => secret !== null && secret !== '');
  const hide = (text: string) => secrets.reduce((shown, secret) => shown.replaceAll(secret, '[cut]'), text);
  return (finding) =>
    hear({
      ...finding,
      message: hide(finding.message),
      ...(finding.advice === undefined ? {} : { advice: hide(finding.advice) }),
    });
}

/** As written and decoded. In an address of sentinels, a login without a colon is the password. */
function passwordsIn(url: string | null): string[] {
  if (url === null) return [];
  const [, login = ''] = /\/\/([^/]*)@/.exec(url) ?? [];
  const colon = login.indexOf(':');
  const written = [
    colon < 0 && !url.includes('+sentinel:') ? '' : login.slice(colon + 1),
    ...[...url.matchAll(/password=([^&]+)/g)].map(([, password = '']) => password),
  ];
  return written.flatMap((text) => [text, decode(text)]);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
