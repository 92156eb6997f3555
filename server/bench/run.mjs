// Runs the benches by name, or all of them: `npm run bench -- [name…] [--against <checkout>] [--profile]`.
// A bench is a file `<name>.bench.mjs` that exports its `name` and `run(context)`, which resolves to measures.
// --against measures a second built checkout, on a database of its own, in turns with this one; --profile writes a CPU
// profile of Pakhus to the results.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildIfStale } from '../../scripts/build.mjs';
import { machine } from './support/cpu.mjs';
import { measureLimits } from './support/limits.mjs';
import {
  makeWorkFolder,
  removeFolder,
  root,
  startDatabase,
  startPakhus,
  startServer,
} from './support/server.mjs';
import { isMet, tableOf } from './support/table.mjs';
import { createTenant } from './support/tenant.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { against: { type: 'string' }, profile: { type: 'boolean', default: false } },
});
const folder = join(root, 'bench');
const results = join(folder, 'results');
const suffix = '.bench.mjs';
const known = readdirSync(folder)
  .filter((file) => file.endsWith(suffix))
  .map((file) => file.slice(0, -suffix.length));
const unknown = positionals.filter((wanted) => !known.includes(wanted));
if (unknown.length > 0) {
  console.error(`Unknown bench: ${unknown.join(', ')}. Known: ${known.join(', ')}`);
  process.exit(2);
}

await buildIfStale('server');
mkdirSync(results, { recursive: true });
console.log(
  Object.entries(machine())
    .map(([what, value]) => `${what} ${value}`)
    .join(', '),
);
const limits = await limitsOfMachine();
console.log(`\nlimits of the machine\n${tableOf(limits)}`);
for (const wanted of positionals.length > 0 ? positionals : known) {
  const bench = await import(`./${wanted}${suffix}`);
  report(bench.name, await measured(bench));
}

async function limitsOfMachine() {
  const work = await makeWorkFolder();
  try {
    const database = await startDatabase(join(work, 'database'));
    const start = (description) => startServer(work, description);
    return await measureLimits(work, database, start).finally(database.stop);
  } finally {
    await removeFolder(work);
  }
}

/** Every bench gets its own servers and databases, so that none inherits the state of another. */
async function measured(bench) {
  const work = await makeWorkFolder();
  const undo = [() => removeFolder(work)];
  const servers = [];
  const started = async (server) => {
    undo.push(server.stop);
    servers.push(server);
    return server;
  };
  const startSide = async (name, { from = root, nodeFlags, settings } = {}) => {
    const database = await started(await startDatabase(join(work, `${name}-database`), settings));
    const { environment } = bench;
    const server = await started(await startPakhus(work, database, { name, from, environment, nodeFlags }));
    return { ...server, tenant: await createTenant(server) };
  };
  const cleanUp = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  // Otherwise the servers would outlive a run that is cut short.
  const cutShort = () => cleanUp().finally(() => process.exit(1));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, cutShort);
  const profiling = ['--cpu-prof', `--cpu-prof-dir=${results}`, `--cpu-prof-name=${bench.name}.cpuprofile`];
  const checkouts = { pakhus: root, ...(options.against && { other: resolve(options.against) }) };
  const startSides = async () => {
    const pakhus = await startSide('pakhus', { nodeFlags: options.profile ? profiling : [] });
    const other = checkouts.other ? await startSide('other', { from: checkouts.other }) : null;
    return { pakhus, other, tenant: pakhus.tenant, database: pakhus.database };
  };
  try {
    const sides = bench.servers === false ? {} : await startSides();
    return await bench.run({
      ...sides,
      checkouts,
      folder: work,
      startSide,
      startServer: async (description) => started(await startServer(work, description)),
      startAnother: async (name, environment) =>
        started(await startPakhus(work, sides.database, { name, environment })),
    });
  } catch (error) {
    for (const server of servers) console.error((await server.lastWords?.()) ?? '');
    throw error;
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, cutShort);
    await cleanUp();
  }
}

function report(name, measures) {
  const command = `npm run bench -- ${name}`;
  console.log(`\n${name}  (${command})\n${tableOf(measures)}`);
  const judged = measures.map((measure) => ({ ...measure, met: isMet(measure) }));
  const record = {
    name,
    at: new Date().toISOString(),
    command,
    machine: machine(),
    limits,
    measures: judged,
  };
  writeFileSync(join(results, `${name}.json`), `${JSON.stringify(record, null, 2)}\n`);
}
