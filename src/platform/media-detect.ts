// What the first bytes of a file prove it to be. Bytes that prove nothing say nothing.
import { fileTypeFromBuffer } from 'file-type';

/** So many first bytes decide. */
export const sniffedBytes = 4100;

export async function detectMediaType(head: Buffer): Promise<string | null> {
  const markup = detectMarkup(head);
  if (markup) return markup;
  if (isPlainAscii(head)) return null;
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  return found?.mime ?? null;
}

/** The library knows neither HTML nor SVG, and both can carry scripts. */
function detectMarkup(head: Buffer): string | null {
  const text = head
    .subarray(0, 1024)
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '');
  if (!/^\s*</.test(text)) return null;
  const afterProlog = text.replace(/^(\s|<\?xml[^>]*\?>|<!--[\s\S]*?-->|<!doctype\s+svg[^>]*>)+/i, '');
  if (/^<svg[\s>]/i.test(afterProlog)) return 'image/svg+xml';
  if (
    /^<(!doctype\s+html|html|head|body|script|iframe|style|title|table|a|p|div|h1|br)[\s>/]/i.test(
      afterProlog,
    )
  )
    return 'text/html';
  return null;
}

/** Text has no signature: looking for one in it would cost more than storing it. */
function isPlainAscii(head: Buffer): boolean {
  const probe = head.subarray(0, 512);
  if (probe.length === 0) return true;
  // %PDF, {\rtf and PostScript are text as well, and do have one.
  if (/^(%PDF|\{\\rtf|%!PS|<\?xml|#!AMR|BEGIN:|Rar!|BZh|MZ|PK)/.test(probe.subarray(0, 8).toString('latin1')))
    return false;
  for (const byte of probe) if (byte < 9 || (byte > 13 && byte < 32) || byte > 126) return false;
  return true;
}
