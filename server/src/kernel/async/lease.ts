// A lease that is kept up while somebody works under it.

/** No timer runs for more than 24 days: one that is asked to runs at once, and again at once. */
const renewMsMax = 600_000;

/** Renews a lease for as long as `work` lasts, three times while it would run. A renewal that fails is not the last. */
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
