// Reads the flat, known XML replies of S3 by their tags. Not a general XML parser.

const patterns = new Map<string, RegExp>();

/** The decoded text of the first such element; undefined if there is none. */
export function textOf(xml: string, tag: string): string | undefined {
  const found = findPattern(tag, xml).exec(xml)?.[1];
  return found === undefined ? undefined : decodeText(found);
}

/** The raw inside of every such element. Elements of one name never nest in these replies. */
export function blocksOf(xml: string, tag: string): string[] {
  return Array.from(xml.matchAll(new RegExp(findPattern(tag, xml), 'g')), (match) => match[1] ?? '');
}

/** Whether this is a complete document with that root; stores may send blanks first while they work. */
export function isDocument(xml: string, root: string): boolean {
  const body = xml.trim().replace(/^<\?xml[^>]*\?>\s*/, '');
  if (!body.startsWith(`<${root}`) || !/^[\s/>]/.test(body.slice(root.length + 1))) return false;
  return body.endsWith(`</${root}>`) || /^<[^<>]*\/>$/.test(body);
}

/** Keys in a listing with encoding-type=url, where a plus is a space. */
export function decodeListedKey(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

const cdata = '<![CDATA[';
/** A tag inside a CDATA section does not end an element. */
const insideWithCdata = '(?:[^<]|<(?!!\\[CDATA\\[)|<!\\[CDATA\\[[\\s\\S]*?\\]\\]>)*?';

// The last character before '>' is no slash, so that an empty element opens nothing.
function findPattern(tag: string, xml: string): RegExp {
  const inside = xml.includes(cdata) ? insideWithCdata : '[\\s\\S]*?';
  const source = `<${tag}(?:\\s[^>]*[^>/])?>(${inside})</${tag}>`;
  let pattern = patterns.get(source);
  if (!pattern) {
    pattern = new RegExp(source);
    patterns.set(source, pattern);
  }
  return pattern;
}

const sections = /<!\[CDATA\[([\s\S]*?)\]\]>/g;

/** Decodes entities, except inside CDATA. */
function decodeText(text: string): string {
  if (!text.includes(cdata)) return decodeEntities(text);
  // With one group in the pattern, every second piece is the inside of a section.
  return text
    .split(sections)
    .map((piece, at) => (at % 2 === 0 ? decodeEntities(piece) : piece))
    .join('');
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return named[name] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
