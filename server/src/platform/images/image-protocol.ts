// Messages between the engine and its child processes.
import type { ImageFormat, ImageRecipe } from '../../kernel/media/image-recipe.ts';

export interface ImageJob {
  readonly inputPath: string;
  readonly outputPath: string;
  readonly recipe: ImageRecipe;
  readonly pixelsMax: number;
}

export interface ImageResult {
  readonly bytes: number;
  readonly format: ImageFormat;
  /** Of one frame, when the image is animated. */
  readonly width: number;
  readonly height: number;
}

export interface ImageReplyDone {
  readonly kind: 'done';
  readonly result: ImageResult;
}

export interface ImageReplyFailed {
  /** `refused` can never succeed; `fault` may, another time. */
  readonly kind: 'refused' | 'fault';
  /** Public. */
  readonly message: string;
  /** For the log: a decoder's own words, which may name paths. */
  readonly detail: string;
  /** Whether a decoder has touched the image, and so may be compromised. */
  readonly touched: boolean;
}

export type ImageReply = ImageReplyDone | ImageReplyFailed;

/** A child that a hostile image has taken over could send anything, so replies are validated. */
export function isImageReply(message: unknown): message is ImageReply {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return false;
  if (message.kind === 'done') return 'result' in message && typeof message.result === 'object';
  return (
    (message.kind === 'refused' || message.kind === 'fault') &&
    'message' in message &&
    typeof message.message === 'string' &&
    'detail' in message &&
    typeof message.detail === 'string'
  );
}
