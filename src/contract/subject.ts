// The end-user that a path names, with the plan in force: read by the statement that authenticates.

export interface PlanFacts {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly storageLimit: number | null;
  readonly maxFileSize: number;
  readonly allowedMimes: readonly string[];
  readonly isDefault: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface Subject {
  readonly id: string;
  readonly externalId: string;
  readonly active: boolean;
  readonly usedBytes: number;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly plan: PlanFacts | null;
}
