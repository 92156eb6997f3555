// What the file browser can do beyond its first file, and what the file that is loaded for it has to offer.
import type { ListedFile, UserResource, Variants } from '@pakhus/client';
import type { ComponentType } from 'preact';
import type { BrowsedUser } from './state/browsed-user.ts';
import type { Catalogue } from './texts.en.ts';

export type MoreRequest =
  | { readonly kind: 'rename' | 'share' | 'variants'; readonly file: ListedFile }
  | { readonly kind: 'move' | 'copy' | 'zip'; readonly files: readonly ListedFile[] }
  | {
      readonly kind:
        | 'new-folder'
        | 'search'
        | 'trash'
        | 'links'
        | 'move-folder'
        | 'remove-folder'
        | 'zip-folder';
    }
  /** What can be done with the folder that is shown. */
  | { readonly kind: 'menu'; readonly x: number; readonly y: number };

export interface ZipQuery {
  readonly folder?: string;
  readonly ids?: readonly string[];
  readonly space_id?: string | undefined;
}

/** The routes behind all that, as the client has them. */
export interface Delivery extends Pick<UserResource, 'folders' | 'shares'> {
  readonly files: Pick<UserResource['files'], 'copy' | 'batch' | 'restore' | 'variant'>;
  variants(): Promise<Pick<Variants, 'list'>>;
  /** The address of a zip where the browser itself has the credential; otherwise the answer of the service. */
  zip(query: ZipQuery): Promise<string | Response>;
}

export interface MoreProps {
  readonly request: MoreRequest;
  readonly delivery: Delivery;
  readonly onClose: () => void;
}

/** Loaded when it is needed first. */
export interface MorePart {
  readonly More: ComponentType<MoreProps>;
  readonly texts: Partial<Catalogue>;
  deliver(user: BrowsedUser): Delivery;
}
