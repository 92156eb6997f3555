// Rows of the audit log as text for other programs.
import type { AuditEntry } from '@pakhus/client';

const columns = [
  'created_at',
  'action',
  'actor_type',
  'actor_id',
  'actor_key_id',
  'project_id',
  'user_id',
  'resource_type',
  'resource_id',
  'ip_address',
  'user_agent',
  'metadata',
  'id',
] as const satisfies readonly (keyof AuditEntry)[];

/** The mark at the start tells spreadsheets that the file is UTF-8. */
export const csvHead = `\uFEFF${columns.join(',')}\r\n`;

export const toCsv = (rows: readonly AuditEntry[]): string =>
  rows.map((row) => `${columns.map((column) => toCell(row[column])).join(',')}\r\n`).join('');

export const toJsonLines = (rows: readonly AuditEntry[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('');

function toCell(value: unknown): string {
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');
  return `"${guardFormula(text).replaceAll('"', '""')}"`;
}

/**
 * A spreadsheet runs a cell that starts like a formula, and anybody can write a user agent. It skips white space first, and
 * some programs split a cell at a line break in spite of the quotes.
 */
const guardFormula = (text: string): string => text.replaceAll(/(?<=^|[\r\n])(?=\s*[=+\-@\t\r|%])/g, "'");
