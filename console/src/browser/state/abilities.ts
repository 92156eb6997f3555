// What the person may do here: what the host allows, minus what the server has refused.
import { type ReadonlySignal, signal } from '@preact/signals';
import { hasCode } from '../errors.ts';

export interface Can {
  readonly upload: boolean;
  readonly delete: boolean;
  readonly edit: boolean;
}

export interface Abilities {
  readonly refused: ReadonlySignal<Partial<Can>>;
  /** Returns whether the error says that this is not allowed at all. */
  learn(verb: keyof Can, error: unknown): boolean;
}

export function createAbilities(): Abilities {
  const refused = signal<Partial<Can>>({});
  return {
    refused,
    learn(verb, error) {
      const isRefused = hasCode(error, 'FORBIDDEN');
      if (isRefused) refused.value = { ...refused.peek(), [verb]: true };
      return isRefused;
    },
  };
}

/** `refused` has true for each verb that does not work. */
export const combine = (can: Partial<Can>, refused: Partial<Can>, isReadOnly: boolean): Can => ({
  upload: !isReadOnly && can.upload !== false && !refused.upload,
  delete: !isReadOnly && can.delete !== false && !refused.delete,
  edit: !isReadOnly && can.edit !== false && !refused.edit,
});
