// The end-user that a path names, with the plan in force: read by the statement that authenticates.

export interface PlanFacts {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly storageLimit: number | null;
  readonly maxFileSize: number;
  readonly allowedMimes: readonly string[];
  /** Null means the usual bound. */
  readonly maxFiles: number | null;
  readonly maxSpaces: number | null;
  readonly isDefault: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** How many files and spaces a user may have where its plan does not say. The first is in the database as well. */
export const usualMax = { files: 10_000_000, spaces: 1_000 };

export interface Subject {
  readonly id: string;
  readonly externalId: string;
  readonly active: boolean;
  readonly usedBytes: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly plan: PlanFacts | null;
}
