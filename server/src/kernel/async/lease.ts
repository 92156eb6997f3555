// Renews a lease while work is under way.

/** A timer of more than 24 days fires at once. */
const renewMsMax = 600_000;

/** Renews a lease three times per period while `work` runs. A failed renewal is reported, and the next one is tried. */
export async function whileRenewed<Result>(
  leaseSeconds: number,
  renew: () => Promise<unknown>,
  work: () => Promise<Result>,
  onFailure: (error: unknown) => void = () => undefined,
): Promise<Result> {
  const everyMs = Math.min((leaseSeconds * 1000) / 3, renewMsMax);
  const timer = setInterval(() => void renew().catch(onFailure), everyMs).unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
