// In CI every part is there, so a test that was skipped is a mistake.
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync('server/coverage/vitest.json', 'utf8'));
const skipped = report.testResults.flatMap(({ name, assertionResults }) =>
  assertionResults
    .filter(({ status }) => status !== 'passed')
    .map(({ fullName, status }) => `${status}: ${name} ${fullName}`),
);
if (skipped.length > 0 || report.numPassedTests === 0) {
  console.error(`These tests did not run:\n${skipped.join('\n')}`);
  process.exit(1);
}
console.log(`${report.numPassedTests} passed, ${report.numFailedTests} failed`);
