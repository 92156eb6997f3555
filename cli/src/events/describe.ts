// An event as a line for people.
import type { FeedEvent } from '@pakhus/client/node';
import { formatBytes, formatTime, printable } from '../files/format.ts';
import { joinPath } from '../files/place.ts';

const typeWidth = 15;

export const describeEvent = (event: FeedEvent): string =>
  [formatTime(event.created_at), event.type.padEnd(typeWidth), ...describeData(event).map(printable)].join(
    '  ',
  );

function describeData(event: FeedEvent): string[] {
  switch (event.type) {
    case 'file.created':
    case 'file.updated':
    case 'file.deleted':
    case 'file.trashed':
    case 'file.restored':
    case 'file.expired': {
      const { user_id, folder, name, size } = event.data;
      // A place that other commands take.
      return [`id:${user_id}:${joinPath(folder ?? '', name)}`, formatBytes(size)];
    }
    case 'image.done': {
      const { file_id, original_size = 0, compressed_size = 0 } = event.data;
      return [`file ${file_id}`, `${formatBytes(original_size)} to ${formatBytes(compressed_size)}`];
    }
    case 'image.failed':
      return [`file ${event.data.file_id}`, event.data.error ?? ''];
    case 'upload.expired':
      return [`user ${event.data.user_id}`, event.data.name];
    case 'space.created':
    case 'space.updated':
    case 'space.deleted':
      return [event.data.external_id, event.data.name];
    case 'quota.threshold': {
      const { external_id, threshold, storageUsed } = event.data;
      return [external_id, `${threshold} %`, `${formatBytes(storageUsed)} used`];
    }
    case 'share.created':
    case 'share.revoked':
      return [`file ${event.data.file_id}`, event.data.name ?? ''];
    case 'user.created':
    case 'user.updated':
    case 'user.deleted':
      return [event.data.external_id];
    default:
      // A newer service has more types.
      return [(event as { readonly id: string }).id];
  }
}
