// HTTP shapes of the usage of users by day.

import { Bytes, Choice, Count, Named, NextCursor, pageQuery, Uuid } from '../../contract/wire.ts';
import { Type } from '../../kernel/schema.ts';

const rowsMax = 10_000;
const rowsByDefault = 1_000;

const Day = (description: string, example: string) =>
  Type.String({ format: 'date', description, examples: [example] });

const { cursor } = pageQuery(rowsByDefault);

export const UsageQuery = Type.Object({
  from: Type.Optional(Day('The first day (UTC); by default 29 days before `to`.', '2026-01-01')),
  to: Type.Optional(
    Day('The last day (UTC), included; by default today. At most 366 days in all.', '2026-01-31'),
  ),
  user_id: Type.Optional(
    Type.String({ ...Uuid, description: 'Only this user, who may have been deleted since.' }),
  ),
  format: Type.Optional(
    Choice(['json', 'csv'], {
      description: 'By default what the `Accept` header asks for: `text/csv`, or else JSON.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: rowsMax,
      description: `Rows per page of JSON; ${rowsByDefault} by default. CSV has no pages.`,
      examples: [rowsByDefault],
    }),
  ),
  cursor,
});

export const limitOf = ({ limit = rowsByDefault }: { readonly limit?: number }): number => limit;

const UsageDay = Named('UsageDay', {
  date: Day('A UTC day.', '2026-01-31'),
  user_id: Uuid,
  bytes_max: Bytes('The most that the user stored at any moment of the day.'),
  bytes_end: Bytes('What the user stored at the end of the day, or stores now.'),
  uploads: Count('Files and images stored.'),
  downloads: Count('Detail reads of a file, which return its URL.'),
  bytes_in: Bytes('Bytes of the files and images stored.'),
});

export const UsagePage = Type.Object({
  days: Type.Array(UsageDay, {
    description: 'By date, then by user: every user for every day on which it stored anything or was active.',
  }),
  final_until: Day('Days up to this one do not change any more.', '2026-01-30'),
  next_cursor: NextCursor,
});

export const usageCsv =
  'date,user_id,bytes_max,bytes_end,uploads,downloads,bytes_in\r\n2026-01-31,6f9619ff-8b86-4d01-b42d-00cf4fc964ff,1048576,1048576,3,3,1048576\r\n';
