// Runs curl, and shows every response that it got, also interim ones.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readAll } from './bytes.ts';

export const hasCurl = spawnSync('curl', ['--version']).status === 0;

export interface CurlResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface CurlResult {
  /** 0 if a whole answer has arrived. */
  readonly exitCode: number;
  /** Interim ones first. */
  readonly responses: readonly CurlResponse[];
  readonly last: CurlResponse;
  readonly text: string;
}

export async function curl(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>> = {},
  body?: Buffer,
  onOutput?: (soFar: string) => unknown,
): Promise<CurlResult> {
  // Unlike --include, --dump-header writes each header at once.
  const verb = method === 'HEAD' ? ['--head'] : ['--dump-header', '-', '--request', method];
  const lines = Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
  // curl would add a type of its own.
  const type = body && !('content-type' in headers) ? ['--header', 'content-type:'] : [];
  const data = body ? ['--data-binary', '@-'] : [];
  const child = spawn('curl', [
    '--silent',
    '--no-buffer',
    '--max-time',
    '120',
    ...verb,
    ...lines,
    ...type,
    ...data,
    url,
  ]);
  child.stdin.on('error', () => undefined).end(body);
  let soFar = '';
  child.stdout.on('data', (chunk) => {
    soFar += chunk;
    onOutput?.(soFar);
  });
  const [output, [exitCode]] = await Promise.all([readAll(child.stdout), once(child, 'close')]);
  return { exitCode, ...parseResponses(output.toString('latin1')) };
}

function parseResponses(output: string): Pick<CurlResult, 'responses' | 'last' | 'text'> {
  const responses: CurlResponse[] = [];
  let rest = output;
  while (rest.startsWith('HTTP/')) {
    const [head = '', ...others] = rest.split('\r\n\r\n');
    rest = others.join('\r\n\r\n');
    const [first = '', ...lines] = head.split('\r\n');
    const headers = lines.map((line) => /^([^:]+): *(.*)$/.exec(line) ?? []);
    responses.push({
      status: Number(first.split(' ')[1]),
      headers: Object.fromEntries(headers.map(([, name = '', value = '']) => [name.toLowerCase(), value])),
    });
  }
  return { responses, last: responses.at(-1) ?? { status: 0, headers: {} }, text: rest };
}
