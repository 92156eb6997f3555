// Statements on the definitions of variants. Changes take the lock on the project's row first.
import type { ImageFormat } from '../../kernel/media/image-recipe.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';

export interface VariantValues {
  readonly format: ImageFormat;
  readonly quality: number;
  readonly width: number | null;
  readonly height: number | null;
  readonly fit: 'inside' | 'cover';
}

export interface VariantRow extends VariantValues {
  readonly name: string;
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
}

const columns = sql`name, version, format, quality, width, height, fit, created_at, updated_at`;

export const listVariants = (projectId: string): Sql => sql`
  select ${columns} from variants where project_id = ${projectId} order by name`;

export const findVariant = (projectId: string, name: string): Sql => sql`
  select ${columns} from variants where project_id = ${projectId} and name = ${name}`;

export const countVariants = (projectId: string): Sql => sql`
  select count(*)::int as variants from variants where project_id = ${projectId}`;

/** No row if the name is taken. */
export const insertVariant = (
  projectId: string,
  name: string,
  recipeId: string,
  { format, quality, width, height, fit }: VariantValues,
): Sql => sql`
  insert into variants (project_id, name, recipe_id, format, quality, width, height, fit)
  values (${projectId}, ${name}, ${recipeId}, ${format}, ${quality}, ${width}, ${height}, ${fit})
  on conflict (project_id, name) do nothing
  returning ${columns}`;

/** The recipe that a variant had until now is retired: its images are deleted in the background. */
const retire = (projectId: string, name: string): Sql => sql`
  insert into retired_recipes (project_id, recipe_id)
  select v.project_id, v.recipe_id from variants v where v.project_id = ${projectId} and v.name = ${name}`;

/** In the statement itself the old recipe is still there to be read. */
export const updateVariant = (
  projectId: string,
  name: string,
  recipeId: string,
  { format, quality, width, height, fit }: VariantValues,
): Sql => sql`
  with retired as (${retire(projectId, name)})
  update variants set recipe_id = ${recipeId}, version = version + 1, format = ${format}, quality = ${quality},
    width = ${width}, height = ${height}, fit = ${fit}, updated_at = now()
  where project_id = ${projectId} and name = ${name}
  returning ${columns}`;

export const deleteVariant = (projectId: string, name: string): Sql => sql`
  with retired as (${retire(projectId, name)})
  delete from variants where project_id = ${projectId} and name = ${name}
  returning ${columns}`;
