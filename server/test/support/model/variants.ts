// Steps on variants of images: the owner defines them, and whoever may read files reads their images.
import sharp from 'sharp';
import { expect } from 'vitest';
import {
  type Caller,
  changedRecipe,
  isSameRecipe,
  type Pixels,
  type Project,
  pixelsOf,
  type Recipe,
  type StoredFile,
  type Variant,
} from '../model.ts';
import { until } from '../processes.ts';
import { type Bytes, expectBytesStatus, fetchBytes } from './reading.ts';
import {
  asked,
  type Draw,
  expectStatus,
  fileCallers,
  files,
  type Guard,
  ownerOnly,
  pick,
  pickLive,
  refusal,
  someFile,
  someOwner,
  someone,
  tenantOf,
  type World,
} from './story.ts';

const names = ['small', 'square', 'large', 'never-defined'];
const definable = names.slice(0, 3);
const owners = ['key', 'session'];
const readers: Guard = { actors: files, scope: 'files:read' };

type Change = Parameters<typeof changedRecipe>[1];

/** The last two cannot be made: one has no side, and `cover` needs both. No avif, which takes longest. */
const definitions: readonly (Change & { readonly format: string })[] = [
  { format: 'webp', width: 2 },
  { format: 'png', width: 3, height: 2 },
  { format: 'png', width: 6, height: 5, fit: 'cover' },
  { format: 'jpeg', height: 40, quality: 50, fit: 'inside' },
  { format: 'webp', width: 30, height: 1, quality: null },
  { format: 'png', fit: 'inside' },
  { format: 'webp', width: 8, fit: 'cover' },
];

const changes: readonly Change[] = [
  {},
  { quality: 30 },
  { quality: null },
  { width: null },
  { width: 1, height: null, fit: 'inside' },
  { width: 5, height: 7, fit: 'cover' },
  { fit: 'cover' },
  { format: 'jpeg' },
  { format: 'png', width: 3 },
];

const noRecipe: Recipe = { format: '', quality: 80, width: null, height: null, fit: 'inside' };

const viewOfVariant = ({ name, version, recipe }: Variant) => ({ name, version, ...recipe });

/** Mostly one that the caller's project has. */
function someVariant({ project }: Caller, draw: Draw): { name: string; variant: Variant | undefined } {
  const find = (name: string) => project?.variants.find((one) => one.name === name);
  const name = pickLive(names, (one) => find(one) !== undefined, draw, draw.number >> 3) ?? '';
  return { name, variant: find(name) };
}

export async function createVariant(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, owners);
  const name = pick(definable, draw.number) ?? '';
  const definition = pick(definitions, draw.what) ?? { format: 'png' };
  const reply = await world.api.post('/project/variants', caller.text, { name, ...definition });
  const recipe = changedRecipe(noRecipe, definition);
  const isTaken = caller.project?.variants.some((one) => one.name === name);
  const expected = refusal(caller, ownerOnly, null) ?? (recipe ? (isTaken ? 409 : 201) : 422);
  if (!expectStatus(reply, expected, asked(caller, 'variants.create')) || !recipe) return;
  const made = { name, version: 1, recipe };
  tenantOf(caller).variants.push(made);
  expect(reply.body.variant).toMatchObject(viewOfVariant(made));
}

/** So that a story need not wait for its owner to have images to read. */
export async function defineFirst(world: World, project: Project, key: string): Promise<void> {
  const [definition] = definitions;
  const [name = ''] = definable;
  const reply = await world.api.post('/project/variants', key, { name, ...definition });
  expectStatus(reply, 201, 'variants.create');
  project.variants.push({ name, version: 1, recipe: changedRecipe(noRecipe, definition ?? {}) ?? noRecipe });
}

/** All of them, by name, or one. */
export async function readDefinitions(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw);
  const { name, variant } = someVariant(caller, draw);
  const path = draw.yes ? '/project/variants' : `/project/variants/${name}`;
  const reply = await world.api.get(path, caller.text);
  const expected = refusal(caller, readers, null) ?? (draw.yes || variant ? 200 : 404);
  if (!expectStatus(reply, expected, asked(caller, `variants.read at ${path}`))) return;
  if (!draw.yes && variant) expect(reply.body.variant).toMatchObject(viewOfVariant(variant));
  if (!draw.yes) return;
  const byName = [...tenantOf(caller).variants].sort((a, b) => (a.name < b.name ? -1 : 1));
  expect(reply.body.variants).toMatchObject(byName.map(viewOfVariant));
  expect(reply.body.variants).toHaveLength(byName.length);
}

/** If the project has a picture, its image is compared before and after the change. */
export async function changeVariant(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, owners);
  const { name, variant } = someVariant(caller, draw);
  const refused = refusal(caller, ownerOnly, null);
  const shown = refused === null && variant ? pick(picturesOf(tenantOf(caller)), draw.what) : undefined;
  const look = async () => shown && variant && (await expectImage(world, caller, shown, variant));
  const before = await look();
  const change = pick(changes, draw.what) ?? {};
  const reply = await world.api.put(`/project/variants/${name}`, caller.text, change);
  const recipe = variant && changedRecipe(variant.recipe, change);
  const expected = refused ?? (variant ? (recipe ? 200 : 422) : 404);
  if (!expectStatus(reply, expected, asked(caller, 'variants.change')) || !variant || !recipe) return;
  if (!isSameRecipe(variant.recipe, recipe)) variant.version += 1;
  variant.recipe = recipe;
  expect(reply.body.variant).toMatchObject(viewOfVariant(variant));
  const after = await look();
  if (before && after && before.seen !== after.seen)
    expect(after.etag, `${before.seen} became ${after.seen}`).not.toBe(before.etag);
}

export async function deleteVariant(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, owners);
  const { name, variant } = someVariant(caller, draw);
  const reply = await world.api.delete(`/project/variants/${name}`, caller.text);
  const expected = refusal(caller, ownerOnly, null) ?? (variant ? 204 : 404);
  if (!expectStatus(reply, expected, asked(caller, 'variants.delete')) || !variant) return;
  const { variants } = tenantOf(caller);
  variants.splice(variants.indexOf(variant), 1);
}

/** That nobody compresses meanwhile. */
const picturesOf = ({ files: all }: Project): StoredFile[] =>
  all.filter(({ picture, job, trashed, owner }) => picture && !job && !trashed && !owner.gone);

export async function readVariant(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const isPicture = ({ picture, trashed }: StoredFile) => picture !== undefined && !trashed;
  const owner = someOwner(world, caller, draw, isPicture);
  const { at, file, trashed: _, ...place } = someFile(world, caller, draw, isPicture, owner);
  const { name, variant } = someVariant(caller, draw);
  const way = pick(['url', 'content', 'redirect'] as const, draw.stray >> 4) ?? 'url';
  const known = file && variant ? (file.picture ? 200 : 422) : 404;
  const expected = refusal(caller, readers, place) ?? known;
  const what = asked(caller, `variants.image by ${way}`);
  const reply = await askForImage(world, caller, at, name, way);
  const isThere = expectBytesStatus(reply, expected, what);
  if (expected === 422) expect(JSON.parse(reply.text).error.code).toBe('VALIDATION_ERROR');
  if (!isThere || !file?.picture || !variant) return;
  await expectPixels(reply, variant.recipe, file.picture);
  if (way !== 'content' || file.job) return;
  expectSameTag(file, variant.recipe, String(reply.headers.etag));
  const url = `${world.api.baseUrl}${at}/content?variant=${name}`;
  const again = await fetchBytes(url, caller.text, { 'if-none-match': String(reply.headers.etag) });
  expectBytesStatus(again, 304, `${what}, again`);
}

type Way = 'url' | 'content' | 'redirect';

/**
 * The answer once the image is made or refused; of a URL, what it leads to. The URL ends early if the image was evicted by
 * then: the next one leads to a new image.
 */
const askForImage = (world: World, caller: Caller, at: string, name: string, way: Way): Promise<Bytes> =>
  until('the image is made or refused', async () => {
    const query = way === 'redirect' ? '&redirect=true' : '';
    const path = way === 'url' ? `${at}/variants/${name}` : `${at}/content?variant=${name}${query}`;
    const reply = await fetchBytes(`${world.api.baseUrl}${path}`, caller.text);
    if (reply.status === 202) {
      expect(reply.headers['retry-after']).toBe('2');
      return undefined;
    }
    if (way === 'content' || ![200, 307].includes(reply.status)) return reply;
    const url = way === 'url' ? JSON.parse(reply.text).url : reply.headers.location;
    const image = await fetchBytes(String(url), undefined);
    if (way === 'url' && image.status === 200) {
      const { width, height } = await sharp(image.body).metadata();
      expect(JSON.parse(reply.text)).toMatchObject({ width, height, size: image.body.length });
    }
    return image.status === 404 ? undefined : image;
  });

/** It has the type and the size that the recipe promises. */
async function expectPixels(reply: Bytes, recipe: Recipe, picture: Pixels): Promise<void> {
  expect(reply.headers['content-type']).toBe(`image/${recipe.format}`);
  const { format, width, height } = await sharp(reply.body).metadata();
  expect({ format, width, height }).toEqual({ format: recipe.format, ...pixelsOf(picture, recipe) });
}

/** By file, and by what was asked for. */
const tagsSeen = new WeakMap<StoredFile, Map<string, string>>();

/** As long as neither the content nor the recipe changes, however often the image was evicted and made again. */
function expectSameTag(file: StoredFile, recipe: Recipe, etag: string): void {
  const seen = tagsSeen.get(file) ?? new Map<string, string>();
  tagsSeen.set(file, seen);
  const key = JSON.stringify(Object.entries(recipe).sort());
  expect(etag, key).toBe(seen.get(key) ?? etag);
  seen.set(key, etag);
}

/** The image of a picture that the caller may read. */
async function expectImage(world: World, caller: Caller, file: StoredFile, { name, recipe }: Variant) {
  const at = `/project/users/${file.owner.id}/files/${file.id}`;
  const reply = await askForImage(world, caller, at, name, 'content');
  expectBytesStatus(reply, 200, asked(caller, 'variants.image of a picture'));
  const picture = file.picture as Pixels;
  await expectPixels(reply, recipe, picture);
  const etag = String(reply.headers.etag);
  expectSameTag(file, recipe, etag);
  const { width, height } = pixelsOf(picture, recipe);
  return { etag, seen: `${recipe.format} of ${width} by ${height}` };
}
