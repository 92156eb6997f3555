/** Renews a lease for as long as `work` lasts, three times while it would run. A renewal that fails is not the last. */
export async function whileRenewed<Result>(
  leaseSeconds: number,
  renew: () => Promise<unknown>,
  work: () => Promise<Result>,
  onFailure: (error: unknown) => void = () => undefined,
): Promise<Result> {
  const timer = setInterval(() => void renew().catch(onFailure), (leaseSeconds * 1000) / 3).unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
