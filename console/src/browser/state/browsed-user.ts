// What the file browser uses of a user of @pakhus/client.
import type { UserResource } from '@pakhus/client';

export type BrowsedUser = Pick<UserResource, 'files' | 'uploads' | 'storage'>;
