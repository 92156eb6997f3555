// What the world gives to features. Built once, in app.ts; handed on explicitly, never imported.
import type { Clock } from '../kernel/clock.ts';
import type { CursorCodec } from '../kernel/cursor.ts';
import type { Database } from '../platform/db/postgres.ts';
import type { Limiter } from '../platform/limits/limiter.ts';
import type { Logger } from '../platform/log.ts';
import type { Passwords } from '../platform/passwords.ts';
import type { AuditQueue } from './audit.ts';
import type { Settings } from './settings.ts';
import type { TokenSigner } from './token.ts';

export interface Deps {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly db: Database;
  readonly limiter: Limiter;
  readonly passwords: Passwords;
  readonly tokens: TokenSigner;
  readonly cursors: CursorCodec;
  readonly auditQueue: AuditQueue;
  readonly version: string;
  /** Whether optional parts answer, for the health report. */
  readonly probes: {
    readonly redis: () => Promise<boolean> | null;
    readonly storage: () => Promise<boolean>;
  };
}
