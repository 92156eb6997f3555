// What requests for image variants and the workers that make them share within a process.

/** An image of a file by the recipe of a variant. */
export interface VariantKey {
  readonly projectId: string;
  readonly fileId: string;
  readonly recipeId: string;
}

export interface VariantDesk {
  /** How long a request waits for an image. */
  readonly waitMsMax: number;
  /** Since this process started. */
  readonly counts: { made: number; failed: number; evicted: number };
  /** Null if too many requests wait here already. */
  wait(key: VariantKey): VariantWait | null;
  /** Callers that ask for the same image at the same time share one request. */
  together(key: VariantKey, request: () => Promise<void>): Promise<void>;
  /** Notes that an image was asked for. Written in batches; a use that gets lost with its process does no harm. */
  noteUse(key: VariantKey): void;
  /** Ends all waits. */
  close(): Promise<void>;
}

export interface VariantWait {
  /**
   * Resolves when the image may have ended since the last call, or `timeoutMs` later. False if nothing is worth waiting for any
   * more: the service stops.
   */
  next(timeoutMs: number): Promise<boolean>;
  end(): void;
}
