// Lists the trash.
import type { TenantActor } from '../../contract/actor.ts';
import type { Deps } from '../../contract/deps.ts';
import type { SpaceFilter } from '../../contract/file.ts';
import { Serialized } from '../../contract/serialized.ts';
import { invalid } from '../../kernel/error.ts';
import { afterCursor, type PageRequest, toPage } from '../../platform/db/paging.ts';
import { readPage } from '../../platform/db/project-work.ts';
import { listName } from './files.service.ts';
import { listTrashed, type TrashedViewRow } from './files.trash.sql.ts';

/** No index serves them there. */
export function refuseFilters(filters: Readonly<Record<string, unknown>>): void {
  const issues = Object.keys(filters)
    .filter((name) => filters[name] !== undefined)
    .map((path) => ({
      path,
      message: 'cannot be combined with trashed=true: leave it out',
      code: 'combination',
    }));
  if (issues.length > 0) throw invalid(400, issues);
}

export async function listTrash(
  deps: Deps,
  actor: TenantActor,
  userId: string,
  space: SpaceFilter,
  page: PageRequest,
): Promise<Serialized> {
  const list = listName('trash', actor, userId);
  const after = afterCursor(deps, list, page.cursor);
  const statement = listTrashed(actor.projectId, userId, space, after, page);
  const found = await readPage<TrashedViewRow>(deps, actor.projectId, statement);
  const { rows, next_cursor } = toPage(deps, list, found, page.limit);
  const files = rows.map(({ shown }) => shown).join(',');
  return new Serialized(`{"files":[${files}],"next_cursor":${JSON.stringify(next_cursor)}}`);
}
