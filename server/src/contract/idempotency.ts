// A request with an Idempotency-Key, as its handler sees it.

export interface IdempotentCall {
  /** An answer is kept: the handler only has to tell the content. */
  readonly isRepeated: boolean;
  /** Must be called with a digest of what was sent, as soon as it is known. Throws if there is an answer already. */
  setContent(digest: Buffer): void;
}
