// An object in the store, and the promise to write one.
import type { Zone } from '../platform/objects/object-store.ts';

export interface PlacedObject {
  readonly zone: Zone;
  readonly key: string;
  readonly fileId: string;
}

/** Whatever is about to be written is on record as doomed first: if its upload comes to nothing, the reaper finds it. */
export interface Reservations {
  /** An object that was never there before, so that a failed upload can damage no other. */
  newObject(projectId: string, zone: Zone): Promise<PlacedObject>;
  /** A copy of an object on another zone. */
  record(object: PlacedObject): Promise<void>;
}
