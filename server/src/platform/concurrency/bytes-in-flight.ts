// Reserves quota for uploads in flight, by user and by space, so that together they never exceed what is left. An upload
// that does not fit waits until another one ends, and is then decided on fresh figures.
import { outage } from '../../kernel/error.ts';
import { FairSemaphore } from './fair-semaphore.ts';

/** What used and reserved bytes leave of the limits; Infinity if there is no limit. */
export interface Room {
  readonly user: number;
  readonly space: number;
}

export interface Claim {
  readonly room: Room;
  /** To be called once the bytes are committed, or gone from the store. */
  release(): void;
}

export interface ClaimRequest {
  readonly userId: string;
  readonly spaceId: string | null;
  /** The least that will come. If less is left, waiting makes no sense. */
  readonly bytesMin: number;
  /** The most that can come; a claim never exceeds what is left. */
  readonly bytesMax: number;
  readRoom(): Promise<Room>;
  readonly signal?: AbortSignal | undefined;
}

export interface InFlight {
  /** Claims all bytes at once: with piecemeal claims, two uploads could wait for each other. */
  claim(request: ClaimRequest): Promise<Claim>;
  /** The bytes that a user has in flight. */
  bytesOf(userId: string): number;
  /** Whether an upload of the user waits for another one to end. */
  isWaitedFor(userId: string): boolean;
}

interface UserState {
  bytes: number;
  readonly bytesOfSpaces: Map<string, number>;
  /** Decides one claim at a time, fairly between spaces. */
  readonly deciding: FairSemaphore;
  /** How many claims have been released. */
  released: number;
  /** Set while the claim being decided waits for another one to be released. */
  onRelease: (() => void) | null;
  /** Claims that wait or are held; the state is dropped with the last one. */
  claims: number;
}

export function createInFlight(waitMaxMs: number): InFlight {
  const users = new Map<string, UserState>();

  const stateOf = (userId: string): UserState => {
    let state = users.get(userId);
    if (!state) {
      const deciding = new FairSemaphore(what, { permits: 1, waitMaxMs });
      state = { bytes: 0, bytesOfSpaces: new Map(), deciding, released: 0, onRelease: null, claims: 0 };
      users.set(userId, state);
    }
    return state;
  };
  const forget = (userId: string, state: UserState) => {
    state.claims -= 1;
    if (state.claims === 0) users.delete(userId);
  };

  return {
    async claim(request) {
      const { userId, spaceId, signal } = request;
      const state = stateOf(userId);
      state.claims += 1;
      try {
        const release = await state.deciding.acquire(spaceId ?? userId, signal);
        try {
          const { room, bytes } = await fittingClaim(state, request, waitMaxMs);
          add(state, spaceId, bytes);
          return {
            room,
            release: once(() => {
              add(state, spaceId, -bytes);
              state.released += 1;
              state.onRelease?.();
              forget(userId, state);
            }),
          };
        } finally {
          release();
        }
      } catch (error) {
        forget(userId, state);
        throw error;
      }
    },
    bytesOf: (userId) => users.get(userId)?.bytes ?? 0,
    isWaitedFor: (userId) => Boolean(users.get(userId)?.onRelease),
  };
}

const what = 'uploads of this user';

/** Waits for other claims to end until this one fits. */
async function fittingClaim(
  state: UserState,
  { spaceId, bytesMin, bytesMax, readRoom, signal }: ClaimRequest,
  waitMaxMs: number,
): Promise<{ room: Room; bytes: number }> {
  const giveUpAt = performance.now() + waitMaxMs;
  for (;;) {
    signal?.throwIfAborted();
    const { released } = state;
    const room = await readRoom();
    // A claim released during the read may be missing both here and in the result.
    if (released !== state.released) continue;
    const left = Math.min(room.user, room.space);
    if (left < bytesMin) return { room, bytes: 0 };
    const bytes = Math.min(bytesMax, left);
    const ofSpace = spaceId === null ? 0 : (state.bytesOfSpaces.get(spaceId) ?? 0);
    if (state.bytes + bytes <= room.user && ofSpace + bytes <= room.space) return { room, bytes };
    await nextRelease(state, giveUpAt - performance.now(), signal);
  }
}

function nextRelease(state: UserState, waitMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      state.onRelease = null;
      end();
    };
    const onAbort = () => settle(() => reject(signal?.reason));
    const timer = setTimeout(
      () => settle(() => reject(outage('capacity', `Too many ${what} at once: try again in a moment`))),
      Math.max(0, waitMs),
    );
    signal?.addEventListener('abort', onAbort);
    state.onRelease = () => settle(resolve);
  });
}

function add(state: UserState, spaceId: string | null, bytes: number): void {
  state.bytes += bytes;
  if (spaceId === null) return;
  const ofSpace = (state.bytesOfSpaces.get(spaceId) ?? 0) + bytes;
  if (ofSpace > 0) state.bytesOfSpaces.set(spaceId, ofSpace);
  else state.bytesOfSpaces.delete(spaceId);
}

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    work();
  };
}
