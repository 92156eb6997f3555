// Fails if any test of the last run did not pass: in CI every part is there, so a skipped test is a mistake.
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync('server/coverage/vitest.json', 'utf8'));
const notPassed = report.testResults.flatMap(({ name, assertionResults }) =>
  assertionResults
    .filter(({ status }) => status !== 'passed')
    .map(({ fullName, status }) => `${status}: ${name} ${fullName}`),
);
if (notPassed.length > 0 || report.numPassedTests === 0) {
  console.error(`These tests did not run or did not pass:\n${notPassed.join('\n')}`);
  process.exit(1);
}
console.log(`${report.numPassedTests} passed, none skipped`);
