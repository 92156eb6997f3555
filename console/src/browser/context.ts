// What every part of the file browser can ask for.
import type { ListedFile, StoredFile } from '@pakhus/client';
import { type ComponentType, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { MorePart, MoreRequest } from './more-request.ts';
import type { Can } from './state/abilities.ts';
import type { Detail } from './state/detail.ts';
import type { Model } from './state/model.ts';
import type { Catalogue } from './texts.en.ts';
import type { Texts } from './texts.ts';

/** Beside a file that is shown large; brings its own texts. */
export type DetailsPane = ComponentType<{ readonly detail: Detail; readonly file: StoredFile }> & {
  readonly texts: Partial<Catalogue>;
};

export interface Browsing {
  readonly model: Model;
  readonly texts: Texts;
  readonly t: Texts['t'];
  readonly can: Can;
  readonly isPicker: boolean;
  readonly DetailsPane: DetailsPane | null;
  readonly selectedFileId: string | null;
  /** Null until `openMore` has loaded it. */
  readonly more: MorePart | null;
  readonly spaceId: string | undefined;
  openMore(request: MoreRequest): Promise<void>;
  go(folder: string): void;
  /** Shows a file in the viewer; null closes it. */
  openFile(fileId: string | null): void;
  /** Tells the host which files were chosen. */
  pick(files: readonly ListedFile[]): void;
}

export const BrowsingContext = createContext<Browsing | null>(null);

export function useBrowsing(): Browsing {
  const browsing = useContext(BrowsingContext);
  if (!browsing) throw new Error('This component belongs inside a FileBrowser');
  return browsing;
}
