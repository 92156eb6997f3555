// What the person may do here: what the host allows, minus what the token lacks and what the server has refused.
import { type ReadonlySignal, signal } from '@preact/signals';
import { hasCode } from '../errors.ts';
import type { BrowsedUser } from './browsed-user.ts';

export interface Can {
  readonly upload: boolean;
  readonly delete: boolean;
  readonly edit: boolean;
  readonly share: boolean;
}

export interface Abilities {
  readonly refused: ReadonlySignal<Partial<Can>>;
  /** Returns whether the error says that this is not allowed at all. */
  learn(verb: keyof Can, error: unknown): boolean;
}

export function createAbilities(user: BrowsedUser): Abilities {
  const refused = signal<Partial<Can>>({});
  const readScopes = async () => {
    const scopes = await user.scopes?.();
    if (!scopes) return;
    const lacks = (scope: string) => !/\*/.test(`${scopes}`) && !`${scopes}`.includes(scope);
    const isReader = lacks('files:write');
    refused.value = {
      upload: isReader,
      edit: isReader,
      delete: lacks('files:delete'),
      share: lacks('files:share'),
    };
  };
  // Without a token, the list says what is wrong.
  readScopes().catch(() => undefined);
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
  share: !isReadOnly && can.share !== false && !refused.share,
});
