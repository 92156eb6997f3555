// The variants that an owner has defined. variants.deliver.ts has their images made and delivers them.
import type { AuditStamp } from '../../contract/audit.ts';
import type { Deps } from '../../contract/deps.ts';
import { invalid, PakhusError } from '../../kernel/error.ts';
import { newId } from '../../kernel/id.ts';
import type { Queryable, Transaction } from '../../platform/db/postgres.ts';
import { projectTransaction, readPage } from '../../platform/db/project-work.ts';
import { changeOf, recordAudit } from '../audit/audit.service.ts';
import { lockProject } from '../locks/locks.project.ts';
import {
  countVariants,
  deleteVariant,
  findVariant,
  insertVariant,
  listVariants,
  updateVariant,
  type VariantRow,
  type VariantValues,
} from './variants.sql.ts';
import type { NewVariantInput, VariantChangeInput } from './variants.wire.ts';

export const variantsMax = 50;
const usualQuality = 80;

export const variantNotFound = () =>
  new PakhusError('NOT_FOUND', 'There is no such variant in this project: check the name');

/** All of them: there are few. */
export const listProjectVariants = (deps: Deps, projectId: string): Promise<VariantRow[]> =>
  readPage<VariantRow>(deps, projectId, listVariants(projectId));

export async function readVariant(db: Queryable, projectId: string, name: string): Promise<VariantRow> {
  const [row] = await db.query<VariantRow>(findVariant(projectId, name));
  if (!row) throw variantNotFound();
  return row;
}

export async function createVariant(
  deps: Deps,
  projectId: string,
  { name, format, ...input }: NewVariantInput,
  audit: AuditStamp,
): Promise<VariantRow> {
  const values = mergeValues(
    { format, quality: usualQuality, width: null, height: null, fit: 'inside' },
    input,
  );
  return projectTransaction(deps, projectId, async (tx) => {
    await lockProject(tx, projectId);
    await refuseTooMany(tx, projectId);
    const [row] = await tx.query<VariantRow>(insertVariant(projectId, name, newId(), values));
    if (!row) throw nameTaken(name);
    await recordAudit(tx, audit, about(name, { new: values }));
    return row;
  });
}

/** A change of nothing makes no image anew. */
export async function changeVariant(
  deps: Deps,
  projectId: string,
  name: string,
  change: VariantChangeInput,
  audit: AuditStamp,
): Promise<VariantRow> {
  return projectTransaction(deps, projectId, async (tx) => {
    await lockProject(tx, projectId);
    const before = await readVariant(tx, projectId, name);
    const values = mergeValues(before, change);
    const isSame = Object.entries(values).every(
      ([field, value]) => before[field as keyof VariantValues] === value,
    );
    const [after = before] = isSame
      ? []
      : await tx.query<VariantRow>(updateVariant(projectId, name, newId(), values));
    await recordAudit(tx, audit, about(name, changeOf({ ...before }, { ...after })));
    return after;
  });
}

export async function removeVariant(
  deps: Deps,
  projectId: string,
  name: string,
  audit: AuditStamp,
): Promise<void> {
  await projectTransaction(deps, projectId, async (tx) => {
    await lockProject(tx, projectId);
    const [old] = await tx.query<VariantRow>(deleteVariant(projectId, name));
    if (!old) throw variantNotFound();
    await recordAudit(tx, audit, about(name, { old }));
  });
}

const about = (name: string, metadata: object) => ({
  resourceType: 'variant',
  resourceId: name,
  metadata: metadata as Record<string, unknown>,
});

const nameTaken = (name: string) =>
  new PakhusError(
    'CONFLICT',
    `This project has a variant named ${name} already: change it with PUT, or choose another name`,
  );

/** The project is locked, so that nobody else adds one meanwhile. */
async function refuseTooMany(tx: Transaction, projectId: string): Promise<void> {
  const [count] = await tx.query<{ variants: number }>(countVariants(projectId));
  if ((count?.variants ?? 0) < variantsMax) return;
  throw new PakhusError(
    'CONFLICT',
    `A project may have at most ${variantsMax} variants: delete one that is not used any more, or change it`,
    { details: { variants_max: variantsMax } },
  );
}

/** Fields that `input` does not name keep their values; null sets the default. */
function mergeValues(before: VariantValues, input: VariantChangeInput): VariantValues {
  const values: VariantValues = {
    format: input.format ?? before.format,
    quality: input.quality === undefined ? before.quality : (input.quality ?? usualQuality),
    width: input.width === undefined ? before.width : input.width,
    height: input.height === undefined ? before.height : input.height,
    fit: input.fit ?? before.fit,
  };
  refuseOpenBox(values);
  return values;
}

function refuseOpenBox({ fit, width, height }: VariantValues): void {
  const missing = (path: string, message: string) => invalid(422, [{ path, message, code: 'required' }]);
  if (width === null && height === null)
    throw missing('width', 'is required, unless height is given: a variant has at least one side');
  if (fit === 'cover' && (width === null || height === null))
    throw missing(width === null ? 'width' : 'height', 'is required for cover, which needs both sides');
}
