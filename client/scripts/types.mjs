// Writes src/api.ts from the OpenAPI document of the server's route table. With --check it fails if that would change it.
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import { buildIfStale } from '../../scripts/build.mjs';

const target = new URL('../src/api.ts', import.meta.url);
const header = '// Generated from the routes of the server by `npm run types`. Do not edit.\n';

async function render() {
  await buildIfStale('server');
  const { openApiDocument } = await import('../../server/dist/http/openapi.js');
  return astToString(await openapiTS(slim(openApiDocument('0')), { exportType: true }));
}

/** Without what the client does not need: the twin paths by external id, refusals (all alike), headers and examples. */
function slim({ openapi, info, paths, components: { schemas } }) {
  const kept = Object.entries(paths).filter(([path]) => !path.includes('/ext/'));
  return withoutExamples({
    openapi,
    info,
    paths: Object.fromEntries(kept.map(([path, operations]) => [path, mapValues(operations, slimOperation)])),
    components: { schemas },
  });
}

const slimOperation = ({ summary, parameters = [], requestBody, responses }) => ({
  summary,
  parameters: parameters.filter((parameter) => parameter.in !== 'cookie'),
  requestBody,
  responses: Object.fromEntries(
    Object.entries(responses)
      .filter(([status]) => status < 300)
      .map(([status, { description, content }]) => [status, { description, content }]),
  ),
});

const mapValues = (record, change) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));

function withoutExamples(value) {
  if (Array.isArray(value)) return value.map(withoutExamples);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(
    ([name, inner]) => name !== 'example' && !(name === 'examples' && Array.isArray(inner)),
  );
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutExamples(inner)]));
}

const text = header + (await render());
if (!process.argv.includes('--check')) writeFileSync(target, text);
else if (readFileSync(target, 'utf8') !== text) {
  console.error(
    'client/src/api.ts differs from the routes of the server: run npm run types --workspace client',
  );
  process.exitCode = 1;
}
