// What the file browser uses of a user of @pakhus/client.
import type { FilesClient } from '@pakhus/client';

export interface BrowsedUser extends FilesClient {
  /** All of them in one request, or none. If it fails, they are deleted one by one. */
  deleteAll?(fileIds: readonly string[]): Promise<unknown>;
  /** Of the credential, if that tells: a list, or `*`. */
  scopes?(): Promise<unknown>;
}
