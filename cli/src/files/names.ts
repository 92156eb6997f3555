// Names that one side has and the other cannot keep.

export const partSuffix = '.pakhus-part';

const bytesMax = 255;
const windowsDevices = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;
const windowsForbidden = /[<>:"|?*\\]|[. ]$/;

/** Why a remote name cannot be the name of a local file or folder; null if it can. */
export function whyNotLocal(name: string, platform: string = process.platform): string | null {
  if (name === '' || name === '.' || name === '..') return 'means a folder';
  if (name.includes('/')) return 'contains a slash';
  if (/\p{Cc}/u.test(name)) return 'contains control characters';
  if (Buffer.byteLength(name) > bytesMax) return `is longer than ${bytesMax} bytes`;
  if (name.endsWith(partSuffix)) return `ends with ${partSuffix}, the mark of unfinished downloads`;
  if (platform === 'win32' && (windowsDevices.test(name) || windowsForbidden.test(name)))
    return 'is not allowed on Windows';
  return null;
}

const bidirectional = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/** Why the service would not keep a local name as it is; null if it does. */
export function whyNotRemote(name: string): string | null {
  if (name.trim() !== name) return 'begins or ends with a blank';
  if (name.length > bytesMax) return `is longer than ${bytesMax} characters`;
  if (/\p{Cc}/u.test(name)) return 'contains control characters';
  if (bidirectional.test(name)) return 'contains characters that change the direction of text';
  // Bytes that are not UTF-8.
  if (name.includes('\ufffd')) return 'is not valid UTF-8';
  return null;
}

/** Equal for names that are one file on a disk that ignores case. */
export const foldName = (name: string): string => name.normalize('NFC').toLowerCase();
