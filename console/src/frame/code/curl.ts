// A request as a curl command.
import { serviceUrl } from '../router.tsx';
import type { RecordedRequest } from './record.ts';

/** For a POSIX shell. */
const quote = (text: string): string =>
  /^[\w./:=@%?&-]+$/.test(text) && !/[?&]/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

const publicPaths = /^\/(health|auth\/(login|2fa\/login|forgot-password|reset-password))$/;

export function toCurl({ method, path, query, body, form }: RecordedRequest): string {
  const search = new URLSearchParams(query).toString();
  const url = `${serviceUrl}/api/v1${path}${search && `?${search}`}`;
  const parts = ['curl'];
  // Bytes belong into a file, by the name that the server gives.
  if (/\/files\/(zip|[^/]+\/content)$/.test(path)) parts.push('-OJ');
  const isImplied = method === 'GET' || (method === 'POST' && (body !== undefined || form));
  if (!isImplied) parts.push(`-X ${method}`);
  parts.push(quote(url));
  if (!publicPaths.test(path)) parts.push('-H "Authorization: Bearer $PAKHUS_KEY"');
  if (body !== undefined) parts.push(`--json ${quote(JSON.stringify(body))}`);
  for (const [name, value] of Object.entries(form ?? {}))
    parts.push(`-F ${quote(name === 'file' || name === 'image' ? `${name}=@${value}` : `${name}=${value}`)}`);
  return parts.join(' \\\n  ');
}
