// Texts of events.
import type { EventType } from '@pakhus/client';

/** Every type that the server records, so that a new one is not forgotten here. */
const types: Readonly<Record<EventType, string>> = {
  'file.created': 'File stored',
  'file.updated': 'File changed',
  'file.deleted': 'File deleted',
  'file.trashed': 'File moved to the trash',
  'file.restored': 'File restored',
  'file.expired': 'File expired',
  'image.done': 'Image compressed',
  'image.failed': 'Image not compressed',
  'upload.expired': 'Upload expired',
  'user.created': 'User created',
  'user.updated': 'User changed',
  'user.deleted': 'User deleted',
  'space.created': 'Space created',
  'space.updated': 'Space changed',
  'space.deleted': 'Space deleted',
  'quota.threshold': 'Quota reached 80 or 100 %',
  'share.created': 'File shared',
  'share.revoked': 'Share revoked',
};

export const events = {
  title: 'Events',
  intro: 'Every change of files, images, users and spaces, as it happens. Your programs can read the same.',
  types,
  groups: {
    file: 'All file events',
    image: 'All image events',
    upload: 'All upload events',
    user: 'All user events',
    space: 'All space events',
    quota: 'All quota events',
    share: 'All share events',
  },

  filters: 'Filters',
  type: 'Type',
  anyType: 'All events',
  oldest: 'From the oldest kept',
  oldestHint: 'Events are kept for 7 days.',

  live: 'Live',
  paused: 'Paused',
  lost: 'Reconnecting',
  pause: 'Pause',
  goOn: 'Continue',
  shown: (count: string) => `Shown: ${count}`,
  shownNewest: (count: string) => `Shown: the newest ${count}`,
  rush: (count: string) =>
    `Paused, because ${count} events came at once. Continue to read on; the oldest leave the list.`,

  when: 'Time',
  user: 'User',
  about: 'About',
  threshold: (name: string, percent: string) => `${name}, ${percent}`,
  details: 'Details',
  json: 'The event as programs get it',

  empty: 'Waiting for events',
  emptyHint:
    'An event tells that a file, an image, a user, a space or a quota has changed. Reading starts the recording: from now on the project records its events, until 7 days after the last time that somebody reads them.',
  emptyOldest: 'No event is kept yet',
  emptyFiltered: 'No such event yet',
  emptyFilteredHint: 'Events of this type appear here as they happen.',
  showAll: 'Show all events',
};
