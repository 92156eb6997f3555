// Fails if a production dependency has a known vulnerability of high or critical severity. Many registry mirrors do not
// answer audit requests; then it prints one line and succeeds.
import { spawnSync } from 'node:child_process';

const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], { encoding: 'utf8' });
const report = parse(stdout);
if (report.vulnerabilities === undefined) {
  console.log(`SKIPPED the audit of dependencies: the registry answered ${reason(report)}`);
  process.exit(0);
}

const grave = Object.values(report.vulnerabilities).filter(({ severity }) =>
  ['high', 'critical'].includes(severity),
);
for (const { name, severity, range, via } of grave) {
  const advisories = via.flatMap((cause) =>
    typeof cause === 'string' ? [] : [`${cause.title} ${cause.url}`],
  );
  console.error([`${severity}: ${name} ${range}`, ...advisories].join('\n  '));
}
if (grave.length > 0) process.exit(1);
console.log('No production dependency has a known vulnerability of high or critical severity');

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function reason({ statusCode, error }) {
  return statusCode ?? (error?.summary || error?.code || 'nothing that is an audit report');
}
