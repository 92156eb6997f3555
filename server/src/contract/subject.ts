// The end-user that a path names, with the plan in force. The statement that authenticates reads it.

export interface PlanFacts {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly storageLimit: number | null;
  readonly maxFileSize: number;
  readonly allowedMimes: readonly string[];
  /** Null means the default in `usualMax`. */
  readonly maxFiles: number | null;
  readonly maxSpaces: number | null;
  readonly isDefault: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** How many files and spaces a user may have if its plan sets no limit. The database repeats the first. */
export const usualMax = { files: 10_000_000, spaces: 1_000 };

export interface Subject {
  readonly id: string;
  readonly externalId: string;
  readonly active: boolean;
  readonly usedBytes: number;
  /** Promised to unfinished uploads. Limits apply to both together. */
  readonly reservedBytes: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly plan: PlanFacts | null;
}
