// Detects the media type of a file by its first bytes; null if they prove nothing.
import { fileTypeFromBuffer } from 'file-type';
import { parseMediaType } from '../kernel/media/media-type.ts';

/** How many of the first bytes are inspected. */
export const sniffedBytes = 4100;

export async function detectMediaType(bytes: Buffer): Promise<string | null> {
  const head = hasUtf8Mark(bytes) ? bytes.subarray(3) : bytes;
  const text = readText(head);
  const markup = detectMarkup(text);
  if (markup) return markup;
  if (isText(text) && !textSignature.test(text)) return null;
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  if (!found) return null;
  const type = parseMediaType(found.mime);
  return (structures[type]?.(head) ?? true) ? type : null;
}

const hasUtf8Mark = (head: Buffer) => head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
const hasUtf16LeMark = (head: Buffer) => head[0] === 0xff && head[1] === 0xfe;
const hasUtf16BeMark = (head: Buffer) => head[0] === 0xfe && head[1] === 0xff;

/** The beginning as text. Only its ASCII characters matter, and those are readable in any encoding. */
function readText(head: Buffer): string {
  const beginning = head.subarray(0, 1024);
  if (hasUtf16LeMark(head)) return new TextDecoder('utf-16le').decode(beginning);
  if (hasUtf16BeMark(head)) return new TextDecoder('utf-16be').decode(beginning);
  return beginning.toString('latin1');
}

/** The library detects neither HTML nor SVG, and both can contain scripts. */
function detectMarkup(text: string): string | null {
  if (!/^\s*</.test(text)) return null;
  const root = text.replace(/^(\s|<\?xml[^>]*\?>|<!--[\s\S]*?-->|<!doctype\s+svg[^>]*>)+/i, '');
  if (/^<svg[\s>]/i.test(root)) return 'image/svg+xml';
  // Browsers treat a document with an XML declaration as XML, where <p> has no meaning.
  if (/^\s*<\?xml\s/i.test(text))
    return /^<(!doctype\s+html|html)[\s>]/i.test(root) ? 'application/xhtml+xml' : 'application/xml';
  return htmlBeginning.test(root) ? 'text/html' : null;
}

const htmlBeginning =
  /^<(!doctype\s+html|html|head|body|script|iframe|style|title|table|a|p|div|h1|br|b|font)[\s>/]/i;

/** Text formats with a signature that no other text begins with. */
const textSignature =
  /^(%PDF-|%!PS|\{\\rtf|BEGIN:V(CARD|CALENDAR)\b|BZh[1-9]1AY&SY|Windows Registry Editor Version )/;

/**
 * Words such as BMW, GIF and FORM look like signatures of binary formats, which all have control characters soon after.
 * Text in old encodings has none, and never begins with FF.
 */
function isText(text: string): boolean {
  if (text.startsWith('\u00ff')) return false;
  for (let at = 0; at < Math.min(text.length, 512); at++) {
    const code = text.charCodeAt(at);
    const isControl = code < 9 || code === 11 || (code > 13 && code < 32 && code !== 27);
    if (isControl) return false;
  }
  return true;
}

/** Extra checks where the library accepts a signature of one or two bytes. */
const structures: Readonly<Record<string, (head: Buffer) => boolean>> = {
  'image/bmp': hasBitmapHeader,
  // The offset of a program's header is four bytes, of which the highest is zero.
  'application/x-msdownload': (head) => head.subarray(0, 64).includes(0),
  'audio/mpeg': (head) => hasId3(head) || hasMpegFrame(head),
  'audio/aac': (head) => hasId3(head) || hasAdtsFrame(head),
  'audio/vnd.dolby.dd-raw': hasAc3Frame,
  'video/mp2t': hasTransportPackets,
  'application/x-arj': hasArjHeader,
  'application/x-compress': hasCompressHeader,
  'application/x-cpio': (head) => head.toString('latin1', 0, 6) === '070707',
  // Any zlib stream can begin like this: a disk image is identified by its end.
  'application/x-apple-diskimage': () => false,
};

/** All sizes of a bitmap's second header, from OS/2 to now. */
const bitmapHeaderSizes: ReadonlySet<number> = new Set([12, 16, 40, 52, 56, 64, 108, 124]);

function hasBitmapHeader(head: Buffer): boolean {
  return head.length >= 18 && bitmapHeaderSizes.has(head.readUInt32LE(14));
}

const hasId3 = (head: Buffer) => head.toString('latin1', 0, 3) === 'ID3';

/** A frame with a valid version, layer, bit rate, sampling rate and emphasis. */
function hasMpegFrame(head: Buffer): boolean {
  if (head.length < 4 || hasUtf16LeMark(head)) return false;
  const [, kind = 0, rates = 0, channels = 0] = head;
  const version = (kind >> 3) & 3;
  const layer = (kind >> 1) & 3;
  const bitRate = rates >> 4;
  const samplingRate = (rates >> 2) & 3;
  const emphasis = channels & 3;
  return (
    version !== 1 && layer !== 0 && bitRate !== 0 && bitRate !== 15 && samplingRate !== 3 && emphasis !== 2
  );
}

/** A frame with a valid sampling rate that is not shorter than its header. */
function hasAdtsFrame(head: Buffer): boolean {
  if (head.length < 7) return false;
  const samplingRate = (head.readUInt8(2) >> 2) & 15;
  const frameBytes = (head.readUIntBE(3, 3) >> 5) & 0x1fff;
  return samplingRate < 13 && frameBytes >= 7;
}

/** A frame with a valid sampling rate, size and format version. */
function hasAc3Frame(head: Buffer): boolean {
  if (head.length < 6) return false;
  const rates = head.readUInt8(4);
  return rates >> 6 !== 3 && (rates & 63) < 38 && head.readUInt8(5) >> 3 <= 16;
}

/** Three packets in a row, each optionally behind a timestamp. */
function hasTransportPackets(head: Buffer): boolean {
  const beginsEach = (first: number, step: number) =>
    [0, 1, 2].every((packet) => head[first + packet * step] === 0x47);
  return beginsEach(0, 188) || beginsEach(4, 192);
}

/** Two headers, the inner of which fits into the outer. */
function hasArjHeader(head: Buffer): boolean {
  if (head.length < 5) return false;
  const outerBytes = head.readUInt16LE(2);
  const innerBytes = head.readUInt8(4);
  return innerBytes >= 30 && innerBytes < outerBytes && outerBytes <= 2600;
}

/** A valid code width, and no undefined flags. */
function hasCompressHeader(head: Buffer): boolean {
  const flags = head[2] ?? 0;
  const codeBits = flags & 31;
  return (flags & 0x60) === 0 && codeBits >= 9 && codeBits <= 16;
}
