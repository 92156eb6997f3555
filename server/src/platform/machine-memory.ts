// How much memory there is for this process and the others beside it.
import { totalmem } from 'node:os';

/** Of the machine or of the container, whichever is less. Without a limit, Node reports none or an impossible one. */
export const machineMemoryBytes = (): number =>
  Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY);
