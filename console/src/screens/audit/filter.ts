// The filters of the audit log: they live in the address.
import type { AuditEntry, QueryOf } from '@pakhus/client';
import { client } from '../../frame/api.ts';
import { session } from '../../frame/session.ts';

export type AuditFilter = Omit<QueryOf<'GET /admin/audit'>, 'limit' | 'cursor'>;

const names = ['action', 'actor_type', 'project_id', 'user_id', 'from', 'to'] as const;

export const isAdmin = (): boolean => session.value?.role === 'admin';

/** What the address says, as it is: the server explains what it does not take. */
export function readFilter(query: URLSearchParams): AuditFilter {
  const known = names.filter((name) => name !== 'project_id' || isAdmin());
  return Object.fromEntries(
    known.flatMap((name) => {
      const value = query.get(name)?.trim();
      return value ? [[name, value]] : [];
    }),
  );
}

export const emptyFilter: Readonly<Record<string, null>> = Object.fromEntries(
  names.map((name) => [name, null]),
);

export interface AuditPage {
  readonly logs: readonly AuditEntry[];
  readonly next_cursor: string | null;
}

interface PagePlace {
  readonly cursor: string | undefined;
  readonly limit: number;
}

/** The admin reads the log of the installation, an owner that of the project. */
export function readAudit(filter: AuditFilter, place: PagePlace, signal: AbortSignal): Promise<AuditPage> {
  const { project_id, ...rest } = filter;
  const page = { limit: place.limit, ...(place.cursor && { cursor: place.cursor }) };
  return isAdmin()
    ? client.admin.audit.list({ ...filter, ...page }, { signal }).page()
    : client.project.audit.list({ ...rest, ...page }, { signal }).page();
}
