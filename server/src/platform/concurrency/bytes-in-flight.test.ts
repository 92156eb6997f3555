import { describe, expect, it } from 'vitest';
import { type ClaimRequest, createInFlight } from './bytes-in-flight.ts';

const settled = () => new Promise(setImmediate);

/** A user with a limit, of which some is used. */
function userWith(limit: number) {
  const state = { used: 0, reads: 0, space: Number.POSITIVE_INFINITY };
  const request = (bytesMax: number, more: Partial<ClaimRequest> = {}): ClaimRequest => ({
    userId: 'user',
    spaceId: null,
    bytesMin: 1,
    bytesMax,
    readRoom: async () => {
      state.reads += 1;
      return { user: limit - state.used, space: state.space };
    },
    ...more,
  });
  return { state, request };
}

describe('bytes in flight', () => {
  it('claims never exceed the quota, and each is decided on fresh figures', async () => {
    const inFlight = createInFlight(60_000);
    const { state, request } = userWith(20);
    const first = await inFlight.claim(request(15));
    const second = inFlight.claim(request(10));
    await settled();
    expect(inFlight.bytesOf('user')).toBe(15);
    state.used = 15;
    first.release();
    first.release();
    expect((await second).room.user, 'fresh').toBe(5);
    expect(inFlight.bytesOf('user'), 'no more than the room').toBe(5);
    (await second).release();
    expect(inFlight.bytesOf('user')).toBe(0);
  });

  it('a claim that ends during the read counts as in flight or as used, never as neither', async () => {
    const inFlight = createInFlight(60_000);
    const { state, request } = userWith(20);
    const first = await inFlight.claim(request(15));
    let commitMeanwhile = true;
    const second = await inFlight.claim(
      request(10, {
        readRoom: async () => {
          const room = { user: 20 - state.used, space: Number.POSITIVE_INFINITY };
          if (commitMeanwhile) {
            commitMeanwhile = false;
            state.used = 15;
            first.release();
          }
          return room;
        },
      }),
    );
    expect(second.room.user).toBe(5);
  });

  it('bounds a space as well, and is fair between the spaces of a user', async () => {
    const inFlight = createInFlight(60_000);
    const { state, request } = userWith(100);
    state.space = 10;
    const order: string[] = [];
    const claim = async (spaceId: string, name: string) => {
      const claimed = await inFlight.claim(request(10, { spaceId }));
      order.push(name);
      await settled();
      claimed.release();
    };
    await Promise.all([
      ...['a1', 'a2', 'a3'].map((name) => claim('a', name)),
      ...['b1', 'b2'].map((name) => claim('b', name)),
    ]);
    expect(order).toEqual(['a1', 'a2', 'b1', 'a3', 'b2']);
  });

  it('does not wait if a claim can never fit', async () => {
    const inFlight = createInFlight(60_000);
    const { state, request } = userWith(20);
    await inFlight.claim(request(15));
    state.used = 18;
    const { room } = await inFlight.claim(request(10, { bytesMin: 5 }));
    expect(room.user).toBe(2);
  });

  it('an aborted claim stops waiting, and one that waits too long gets a 503', async () => {
    const inFlight = createInFlight(20);
    const { request } = userWith(20);
    const held = await inFlight.claim(request(20));
    const abort = new AbortController();
    const gone = inFlight.claim(request(5, { signal: abort.signal }));
    await settled();
    abort.abort(new Error('hung up'));
    await expect(gone).rejects.toThrow('hung up');
    await expect(inFlight.claim(request(5))).rejects.toMatchObject({ status: 503 });
    held.release();
    (await inFlight.claim(request(20))).release();
    expect(inFlight.bytesOf('user')).toBe(0);
  });
});
