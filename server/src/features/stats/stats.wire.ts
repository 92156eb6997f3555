// HTTP shapes of statistics.

import { Bytes, Count, Listing, Named, Nullable, Uuid } from '../../contract/wire.ts';
import { type Static, Type } from '../../kernel/schema.ts';
import { StorageSnapshot } from '../users/users.wire.ts';

const counterFields = {
  requests: Count('Requests with a valid credential.'),
  errors: Count('Those of them with a status of 400 or more.'),
  uploads: Count('Files and images stored.'),
  downloads: Count('Detail reads of a file, which return its URL.'),
  deletes: Count('Files deleted individually.'),
  bytes_in: Bytes('Bytes of the files and images stored.'),
};

export const CountersView = Named('Counters', counterFields);

const Amount = Named('Amount', { files: Count('Files.'), bytes: Bytes('Their size at upload.') });

const amountFields = {
  users: Count('End-users.'),
  files: Count('Files.'),
  bytes: Bytes('Their size at upload.'),
  public: Amount,
  private: Amount,
  trashed: Type.Optional(
    Named('TrashedAmount', { files: Count('Files in the trash.'), bytes: Bytes('Their size at upload.') }),
  ),
};

export const StorageStats = Named('StorageStats', {
  ...amountFields,
  over_quota_users: Count('Users that store more than their plan allows.'),
});

export const Overview = Named('ProjectOverview', {
  today: CountersView,
  last_30_days: CountersView,
  storage: StorageStats,
});

export const FileStats = Named('FileStats', {
  by_mime: Type.Array(
    Type.Object({ mime_type: Type.String({ examples: ['image/png'] }), ...Amount.properties }),
    { description: 'Most files first; at most 1000 types.' },
  ),
  by_classifier: Type.Array(
    Type.Object({
      classifier: Nullable(
        Type.String({ description: 'Null for files without one.', examples: ['invoice'] }),
      ),
      ...Amount.properties,
    }),
    { description: 'Most files first; at most 1000 classifiers.' },
  ),
});

const Days = Type.Array(
  Type.Object({
    date: Type.String({ format: 'date', description: 'A UTC day.', examples: ['2026-01-01'] }),
    ...counterFields,
  }),
  {
    minItems: 30,
    maxItems: 30,
    // Code generators would make a tuple of thirty elements.
    'x-shown': { minItems: undefined, maxItems: undefined },
    description: '30 days, oldest first, today last, without gaps.',
  },
);

export const RequestStats = Named('RequestStats', { days: Days });

export const UserStats = Named('UserStats', {
  user_id: Uuid,
  files: Count('Files of the user, or of the space for a space token.'),
  bytes: Bytes('Their size at upload.'),
  storage: StorageSnapshot,
  last_30_days: CountersView,
});

export const InstallationStats = Named('InstallationStats', {
  last_30_days: CountersView,
  days: Days,
  storage: Type.Object(amountFields),
  projects: Count('Projects, active or not.'),
  jobs: Type.Object({
    pending: Count('Pending image jobs.'),
    processing: Count('Image jobs in progress.'),
    done: Count('Image jobs that succeeded, of files that still exist.'),
    failed: Count('Image jobs that failed for good, of files that still exist.'),
  }),
});

export const ProjectStatsPage = Listing(
  'projects',
  Named('ProjectStats', {
    id: Uuid,
    name: Type.String({ examples: ['Harbour'] }),
    active: Type.Boolean({ examples: [true] }),
    users: Count('End-users.'),
    files: Count('Files.'),
    bytes: Bytes('Their size at upload.'),
    requests_30d: Count('Requests in the last 30 days.'),
  }),
);

export type CountersShown = Static<typeof CountersView>;
