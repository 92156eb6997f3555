// What the file browser uses of a user of @pakhus/client.
import type { FilesClient } from '@pakhus/client';

export type BrowsedUser = FilesClient;
