// Steps on many files at once.
import { randomUUID } from 'node:crypto';
import { filesOf } from '../model.ts';
import { forgetFile } from './files.ts';
import {
  asked,
  type Draw,
  expectStatus,
  fileCallers,
  files,
  folders,
  pick,
  refusal,
  someone,
  someUser,
  tenantOf,
  type World,
} from './story.ts';

/** An update or a deletion of up to three files of one user, one of them sometimes strange. */
export async function runBatch(world: World, draw: Draw): Promise<void> {
  const caller = someone(world, draw, fileCallers);
  const place = someUser(world, caller, draw);
  const own =
    place.user && caller.project
      ? filesOf(caller.project, place.user).filter(
          (file) => !file.trashed && (!caller.space || file.space === caller.space),
        )
      : [];
  const chosen = own.slice(0, 1 + (draw.number % 3));
  const strange = draw.stray % 5 === 0 ? [randomUUID()] : [];
  const ids = [...chosen.map(({ id }) => id), ...strange];
  if (ids.length === 0) return;
  const action = draw.yes ? 'update' : 'delete';
  const change = { folder: pick(folders, draw.what) ?? '', tags: draw.also ? ['batch'] : [] };
  const body = { ids, action, ...(draw.yes ? { set: change } : {}) };
  const reply = await world.api.post(`${place.path}/files/batch`, caller.text, body);
  const scope = draw.yes ? 'files:write' : 'files:delete';
  // Of an id that is held and one that is unknown, the first in the list is named.
  const isHeld = !draw.yes && chosen.some((file) => file.isHeld);
  const known = isHeld ? 423 : strange.length > 0 ? 404 : 200;
  const expected = refusal(caller, { actors: files, scope }, place) ?? known;
  if (!expectStatus(reply, expected, asked(caller, 'files.batch')) || expected !== 200) return;
  for (const file of chosen) {
    if (draw.yes) Object.assign(file, change);
    else forgetFile(tenantOf(caller), file, false);
  }
}
