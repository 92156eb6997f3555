// Where unfinished uploads are remembered, so that they go on after a reload or a restart.

export interface ResumeStore {
  get(key: string): string | null | undefined | Promise<string | null | undefined>;
  set(key: string, value: string): void | Promise<void>;
  delete(key: string): void | Promise<void>;
}

/** A resumable upload has a `url`, a direct one the parts that the store has. */
export interface Remembered {
  readonly id?: string;
  readonly url?: string;
  readonly partSize?: number;
  readonly parts?: readonly SentPart[];
}

export interface SentPart {
  readonly number: number;
  readonly etag: string;
}

/** The page's local storage; null where there is none or where it is forbidden. */
export function findLocalStorage(): ResumeStore | null {
  try {
    const { localStorage } = globalThis;
    return {
      get: (key) => localStorage.getItem(key),
      set: (key, value) => localStorage.setItem(key, value),
      delete: (key) => localStorage.removeItem(key),
    };
  } catch {
    return null;
  }
}

export interface Memory {
  get(): Promise<Remembered>;
  set(value: Remembered): Promise<void>;
  forget(): Promise<void>;
}

/** A store that fails (full, forbidden) only costs the resumption after a reload. */
export function createMemory(store: ResumeStore | null, key: string | null): Memory {
  const use = async <Result>(work: (store: ResumeStore, key: string) => Result | Promise<Result>) => {
    try {
      return store && key ? await work(store, key) : undefined;
    } catch {
      return undefined;
    }
  };
  return {
    get: async () => (await use(async (at, name) => JSON.parse((await at.get(name)) ?? '{}'))) ?? {},
    set: (value) => use((at, name) => at.set(name, JSON.stringify(value))),
    forget: () => use((at, name) => at.delete(name)),
  };
}
