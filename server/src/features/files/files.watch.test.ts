import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ClientPace, paceBytesMin } from './files.watch.ts';

/** The parts of a request that ClientPace reads. */
function fakeRequest() {
  const socket = { bytesRead: 0 };
  const state = { complete: false };
  const raw = Object.defineProperty({ socket }, 'complete', { get: () => state.complete });
  return { raw: raw as unknown as IncomingMessage, socket, state };
}

describe('the pace of an upload', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function watched(othersWait = () => false) {
    const request = fakeRequest();
    const abort = new AbortController();
    const gate = { holds: 0, isHeld: false };
    const pace = new ClientPace(request.raw, gate, abort, othersWait);
    /** Lets seconds pass while bytes arrive at this rate, with this share of the places in use. */
    const pass = (seconds: number, bytesPerSecond: number, occupancy = 0) => {
      for (let n = 0; n < seconds; n += 1) {
        pace.measure(occupancy);
        vi.advanceTimersByTime(1000);
        request.socket.bytesRead += bytesPerSecond;
      }
      pace.measure(occupancy);
    };
    return { ...request, gate, pace, pass, abort };
  }

  it('may be as slow as 10 KiB in 20 s while there are places, and no slower', () => {
    const slow = watched();
    slow.pass(60, 600);
    expect(slow.abort.signal.aborted).toBe(false);
    const tooSlow = watched();
    tooSlow.pass(21, 400);
    expect(tooSlow.abort.signal.reason).toMatchObject({ status: 422 });
  });

  it('must be the higher the fewer places are left, and the refusal says to come back', () => {
    expect([0, 0.5, 0.75, 1].map(paceBytesMin)).toEqual([10_240, 10_240, 168_960, 327_680]);
    const slow = watched();
    slow.pass(21, 700, 1);
    expect(slow.abort.signal.reason).toMatchObject({ status: 503, details: { part: 'capacity' } });
    const fast = watched();
    fast.pass(60, 20_000, 1);
    expect(fast.abort.signal.aborted).toBe(false);
  });

  it("must be higher as well while other uploads of the same user wait for this one's room", () => {
    const slow = watched(() => true);
    slow.pass(21, 700);
    expect(slow.abort.signal.reason).toMatchObject({ status: 503 });
  });

  it('is nobody’s fault while the upload is held up by us, or waits to be let in', () => {
    const held = watched();
    held.gate.isHeld = true;
    held.pass(60, 0, 1);
    expect(held.pace.pace).toBe(Number.POSITIVE_INFINITY);
    expect(held.abort.signal.aborted).toBe(false);
    const heldBriefly = watched();
    heldBriefly.pass(1, 0);
    heldBriefly.gate.holds += 1;
    heldBriefly.pass(20, 0);
    expect(heldBriefly.abort.signal.aborted).toBe(false);
    heldBriefly.pass(21, 0);
    expect(heldBriefly.abort.signal.aborted, 'only the window with the hold is excused').toBe(true);
    const waiting = watched();
    vi.advanceTimersByTime(25_000);
    waiting.pass(5, 0);
    expect(waiting.abort.signal.aborted).toBe(false);
  });

  it('is known after three seconds, and of no interest once everything is here', () => {
    const { pace, pass, state } = watched();
    pass(2, 700);
    expect(pace.pace).toBe(Number.POSITIVE_INFINITY);
    pass(4, 700);
    expect(pace.pace).toBe(700);
    state.complete = true;
    expect(pace.pace).toBeNull();
  });
});
