// Prints what the service finds out about its parts.
import type { Call } from '../frame/command.ts';
import { exitCodes } from '../frame/failure.ts';
import { loadOperator } from '../server.ts';

interface Options {
  readonly 'mail-to': string | undefined;
  readonly origin: string | undefined;
}

export async function doctor({ options, context }: Call<Options>): Promise<number> {
  const { out, err, env, prepareServer } = context;
  const { diagnose, describeFinding } = await loadOperator(prepareServer);
  const counts = { ok: 0, warning: 0, failed: 0, skipped: 0 };
  const { signal } = context;
  const asked = { mailTo: options['mail-to'] ?? null, origin: options.origin ?? null, signal };
  await diagnose(env, asked, (finding) => {
    counts[finding.status] += 1;
    void out.print(finding, () => describeFinding(finding));
  });
  err.say(`${counts.failed} failed, ${counts.warning} warnings, ${counts.ok} ok, ${counts.skipped} skipped`);
  return counts.failed > 0 ? exitCodes.failed : exitCodes.done;
}
