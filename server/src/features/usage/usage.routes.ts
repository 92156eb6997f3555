// Usage by day over HTTP, as JSON in pages or as one CSV file.
import type { Call } from '../../contract/call.ts';
import { route } from '../../contract/route.ts';
import { invalid } from '../../kernel/error.ts';
import { listUsage, streamUsage } from './usage.service.ts';
import { limitOf, UsagePage, UsageQuery, usageCsv } from './usage.wire.ts';

const wantsCsv = (call: Call, format: 'json' | 'csv' | undefined): boolean =>
  format ? format === 'csv' : /\btext\/csv\b/i.test(call.headers.accept ?? '');

export const usageRoutes = [
  route(
    {
      id: 'usage.days',
      method: 'GET',
      path: '/project/usage',
      summary: 'What each user stored and did, day by day: the rows of a bill',
      description:
        'Days are UTC days, and the rows of a day stay as they are once it is over: storage and uploads from midnight on, downloads from 00:15 on, ' +
        'when the last counts have arrived (`final_until`). Deleted users stay in the days before, and in the day of their deletion. ' +
        'Rows are kept for 400 days. A page of JSON may have fewer rows than `limit`: go on until `next_cursor` is null. ' +
        'CSV has all rows of the range in one answer; if it is cut off, so is the connection.',
      access: { actors: ['project', 'integration'], scope: 'stats:read' },
      rateLimit: 'integration',
      audit: 'stats.read',
      query: UsageQuery,
      returns: { status: 200, body: UsagePage, or: { contentType: 'text/csv', example: usageCsv } },
      errors: [],
    },
    async ({ deps, actor, query, call, audit }) => {
      const { format, limit, cursor, ...range } = query;
      const isCsv = wantsCsv(call, format);
      call.setHeader('vary', 'Origin, Accept');
      if (isCsv && (limit !== undefined || cursor !== undefined)) throw pagedCsv(limit ? 'limit' : 'cursor');
      const answer = isCsv
        ? await streamUsage(deps, actor.projectId, range)
        : await listUsage(deps, actor.projectId, { ...range, cursor, limit: limitOf(query) });
      if (isCsv) {
        call.setHeader('content-type', 'text/csv; charset=utf-8; header=present');
        call.setHeader('content-disposition', 'attachment; filename="usage.csv"');
      }
      deps.auditQueue.add(audit, {
        resourceType: 'stats',
        resourceId: 'usage',
        userId: range.user_id ?? null,
      });
      return answer;
    },
  ),
];

const pagedCsv = (path: string) =>
  invalid(400, [
    { path, message: 'is only for JSON: leave it out, CSV has all rows in one answer', code: 'format' },
  ]);
