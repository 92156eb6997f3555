// What the page around the file browser gives it: texts, and who is told what happens.
import type { StoredFile } from '@pakhus/client';
import type { Texts } from '../texts.ts';

/** As the component was given it last. */
export interface Host {
  readonly texts: Texts;
  readonly isMultiple: boolean;
  onError(error: unknown): void;
  onUploaded(file: StoredFile): void;
}
