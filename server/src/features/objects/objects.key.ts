// The name of an object in the store.
import type { ObjectRef } from '../../contract/object-ref.ts';

export const toStorageKey = ({ projectId, id }: Pick<ObjectRef, 'projectId' | 'id'>): string =>
  `${projectId}/${id}`;

const pattern = /^([0-9a-f-]{36})\/([0-9a-f-]{36})$/;

/** Null for a name that is not one of ours. */
export function parseStorageKey(key: string): Pick<ObjectRef, 'projectId' | 'id'> | null {
  const [, projectId, id] = pattern.exec(key) ?? [];
  return projectId && id ? { projectId, id } : null;
}
