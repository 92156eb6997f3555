// Fails if any test of the last run did not pass: in CI every server is available, so a skipped test is a mistake.
// Names those that passed at their second attempt only: each is a race, in the test or in the product.
// After a run of some tests by name: node .ci/no-skips.mjs --at-least 5
import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({ options: { 'at-least': { type: 'string' } } });
const reports = ['server', 'client', 'cli', 'console']
  .map((workspace) => `${workspace}/coverage/vitest.json`)
  .filter((path) => existsSync(path))
  .map((path) => JSON.parse(readFileSync(path, 'utf8')));
const passed = reports.reduce((sum, { numPassedTests }) => sum + numPassedTests, 0);
const testResults = reports.flatMap((report) => report.testResults);
const notPassed = testResults.flatMap(({ name, assertionResults }) =>
  assertionResults
    .filter(({ status }) => status !== 'passed' && (status === 'failed' || !options['at-least']))
    .map(({ fullName, status }) => `${status}: ${name} ${fullName}`),
);
if (notPassed.length > 0 || passed < Number(options['at-least'] ?? 1)) {
  console.error(`These tests did not run or did not pass:\n${notPassed.join('\n')}`);
  process.exit(1);
}
const retried = testResults.flatMap(({ name, assertionResults }) =>
  assertionResults
    .filter(({ status, failureMessages }) => status === 'passed' && failureMessages.length > 0)
    .map(({ fullName, failureMessages }) => `${name} ${fullName}\n  ${failureMessages[0]}`),
);
if (retried.length > 0) console.warn(`Passed at the second attempt only:\n${retried.join('\n')}`);
console.log(`${passed} passed, none failed${options['at-least'] ? '' : ' or skipped'}`);
