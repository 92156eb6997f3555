// Objects in the store, as the object ledger knows them.
import type { Zone } from '../platform/objects/object-store.ts';

export interface ObjectRef {
  readonly projectId: string;
  /** The file that owns the object, or will own it once its upload commits. */
  readonly fileId: string;
  readonly id: string;
  readonly zone: Zone;
}

/** An object with the token of the operation that may touch it. */
export interface HeldObject extends ObjectRef {
  readonly holder: string;
}

/** Every object is in the ledger before the first byte is written: the reaper finds it if the upload comes to nothing. */
export interface Reservations {
  /** A new object with a new id, so that a failed upload can damage no other. */
  newObject(projectId: string, zone: Zone): Promise<HeldObject>;
  /** The same object in another zone. */
  reserve(object: HeldObject): Promise<void>;
  /** Keeps the reservation for as long as the work lasts. */
  whileReserved<Result>(object: HeldObject, work: () => Promise<Result>): Promise<Result>;
}
