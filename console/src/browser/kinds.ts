// What a file is to people, and how it can be previewed.

export type FileKind = 'image' | 'video' | 'audio' | 'pdf' | 'text' | 'archive' | 'other';
export type PreviewKind = 'image' | 'video' | 'audio' | 'pdf' | 'text' | 'none';

const archives = /zip|compressed|x-tar|gzip|rar|7z/;
const readable = /^text\/|^application\/(json|xml|javascript|x-sh|yaml|x-yaml|toml|sql)$|\+json$|\+xml$/;
/** Formats that every browser decodes. */
const pictures = /^image\/(png|jpe?g|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon)$/;

const essence = (mimeType: string): string => mimeType.toLowerCase().split(';')[0]?.trim() ?? '';

export function kindOf(mimeType: string): FileKind {
  const type = essence(mimeType);
  const [family] = type.split('/');
  if (family === 'image' || family === 'video' || family === 'audio') return family;
  if (type === 'application/pdf') return 'pdf';
  if (readable.test(type)) return 'text';
  return archives.test(type) ? 'archive' : 'other';
}

/** HTML and SVG can contain scripts: they are shown as text, never rendered. */
export function previewOf(mimeType: string): PreviewKind {
  const type = essence(mimeType);
  const kind = kindOf(type);
  if (kind === 'image') return pictures.test(type) ? 'image' : readable.test(type) ? 'text' : 'none';
  return kind === 'archive' || kind === 'other' ? 'none' : kind;
}
