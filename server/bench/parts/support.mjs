// CPU time of several ways to do the same work, in turns, within this process.

/** Each way is `(count) => Promise<void>`; prints the best round of each, in µs of CPU per operation. */
export async function compare(title, ways, { count, rounds = 8 }) {
  const best = Object.fromEntries(Object.keys(ways).map((name) => [name, Number.POSITIVE_INFINITY]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, way] of Object.entries(ways)) {
      const before = process.cpuUsage();
      await way(count);
      const { user, system } = process.cpuUsage(before);
      best[name] = Math.min(best[name], (user + system) / count);
    }
  }
  for (const [name, us] of Object.entries(best))
    console.log(`${title.padEnd(34)}${name.padEnd(30)}${us.toFixed(2).padStart(9)} µs CPU`);
}
