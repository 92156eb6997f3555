// Downloads a file by its signed URL, and has the browser save what was downloaded.
import type { ListedFile } from '@pakhus/client';
import type { Model } from './state/model.ts';

/** Browsers ignore the download attribute for another origin and would show a picture instead of saving it. */
const fetchedBytesMax = 64e6;

export async function downloadFile(model: Model, { id, size, name }: ListedFile): Promise<void> {
  try {
    const { url } = await model.user.files.get(id);
    if (new URL(url).origin === location.origin) return save(url, name);
    const blob = size <= fetchedBytesMax ? await fetchBlob(url) : null;
    if (!blob) return save(url, name, true);
    saveBlob(blob, name);
  } catch (error) {
    model.fail(error);
  }
}

/** Null if the store does not let this page read it. */
async function fetchBlob(url: string): Promise<Blob | null> {
  try {
    const response = await fetch(url);
    return response.ok ? await response.blob() : null;
  } catch {
    return null;
  }
}

export function saveBlob(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  save(address, name);
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

export function save(url: string, name: string, isElsewhere = false): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.rel = 'noopener';
  if (isElsewhere) link.target = '_blank';
  link.click();
}
