// One tab at a time goes on with a remembered upload: two would send the same bytes to the same URL.

const prefix = 'pakhus-upload|';

export interface FileTraits {
  readonly name: string;
  readonly size: number;
  readonly lastModified: number;
}

/** As in the keys of the client's local storage. */
export const toFingerprint = ({ name, size, lastModified }: FileTraits): string =>
  `${name}|${name}:${size}:${lastModified}`;

/** Without locks (an insecure page, an old browser), every tab is the owner. */
export async function withUploadLock<Result>(
  place: string,
  file: FileTraits,
  work: (isOwner: boolean) => Promise<Result>,
): Promise<Result> {
  if (!navigator.locks) return work(true);
  return navigator.locks.request(`${prefix}${place}|${toFingerprint(file)}`, { ifAvailable: true }, (lock) =>
    work(lock !== null),
  );
}

/** The names of the locks that any tab holds. */
export async function heldLocks(): Promise<readonly string[]> {
  const { held = [] } = (await navigator.locks?.query()) ?? {};
  return held.flatMap(({ name }) => (name?.startsWith(prefix) ? [name] : []));
}
