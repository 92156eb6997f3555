// An object in the store, and the promise to write one.
import type { Shelf } from '../platform/objects/object-store.ts';

export interface PlacedObject {
  readonly shelf: Shelf;
  readonly key: string;
  readonly fileId: string;
}

/** Whatever is about to be written is on record as doomed first: if its upload comes to nothing, the reaper finds it. */
export interface Reservations {
  /** An object that was never there before, so that a failed upload can damage no other. */
  newObject(projectId: string, shelf: Shelf): Promise<PlacedObject>;
  /** A copy of an object on another shelf. */
  record(object: PlacedObject): Promise<void>;
}
