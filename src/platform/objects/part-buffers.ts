// A fixed number of buffers that streamed uploads share, so that memory is bounded by configuration and not
// by how many clients send at once. Whoever waits too long for one is refused, never left hanging.
import { createAdmission } from '../admission.ts';

export interface LentBuffer {
  readonly buffer: Buffer;
  giveBack(): void;
}

export interface PartBuffers {
  take(owner: string, signal?: AbortSignal): Promise<LentBuffer>;
}

/** So many stay allocated while nobody uploads. */
const idleMax = 4;

/** A quarter of them is out of reach for any one owner, however slowly it sends. */
const shareOfOne = 0.75;

export function createPartBuffers(bytes: number, countMax: number, waitMaxMs: number): PartBuffers {
  const placesOfOne = Math.ceil(countMax * shareOfOne);
  const admission = createAdmission('uploads', { places: countMax, placesOfOne, waitMaxMs });
  const idle: Buffer[] = [];
  return {
    async take(owner, signal) {
      const leave = await admission.enter(owner, signal);
      const buffer = idle.pop() ?? Buffer.allocUnsafeSlow(bytes);
      return {
        buffer,
        giveBack() {
          if (idle.length < idleMax) idle.push(buffer);
          leave();
        },
      };
    },
  };
}
