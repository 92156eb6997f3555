// What the audit log records: every action, and the fields of a row.

export const auditActions = [
  'auth.login',
  'auth.login_failed',
  'auth.logout',
  'auth.password_change',
  'auth.password_forgot',
  'auth.password_reset',
  'auth.2fa_enroll',
  'auth.2fa_activate',
  'auth.2fa_disable',
  'auth.2fa_login',
  'project.create',
  'project.update',
  'project.delete',
  'integration.create',
  'integration.update',
  'integration.revoke',
  'api_key.create',
  'api_key.revoke',
  'plan.create',
  'plan.update',
  'plan.delete',
  'plan.assign',
  'variant.create',
  'variant.update',
  'variant.delete',
  'user.create',
  'user.update',
  'user.delete',
  'user.plan_change',
  'space.create',
  'space.update',
  'space.delete',
  'space.login',
  'space.credentials',
  'token.mint',
  'token.revoke',
  'file.upload',
  'file.update',
  'file.copy',
  'file.delete',
  'file.trash',
  'file.restore',
  'file.expire',
  'file.purge',
  'file.download',
  'folder.move',
  'folder.delete',
  'share.create',
  'share.update',
  'share.delete',
  'share.download',
  'file.zip',
  'upload.create',
  'upload.cancel',
  'upload.expire',
  'webhook.create',
  'webhook.update',
  'webhook.delete',
  'webhook.rotate_secret',
  'webhook.test',
  'webhook.replay',
  'job.failed',
  'settings.update',
  'stats.read',
  'audit.read',
] as const;

export type AuditAction = (typeof auditActions)[number];

/** The fields of a row that follow from the request. */
export interface AuditStamp {
  readonly action: AuditAction;
  readonly projectId: string | null;
  readonly actorType: 'admin' | 'project' | 'integration';
  readonly actorId: string | null;
  readonly actorKeyId: string | null;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
}

/** The fields that only the operation knows. */
export interface AuditSubject {
  readonly resourceType: string;
  readonly resourceId?: string | null;
  readonly userId?: string | null;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** For reads and refused logins: rows are batched, and no request waits for them. */
export interface AuditQueue {
  add(stamp: AuditStamp, subject: AuditSubject): void;
  /** Writes all queued rows; never rejects. */
  flush(): Promise<void>;
}
