// A download by curl, which leaves most of two cores to the server that is measured.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Resolves to the bytes and the seconds they took, headers and connection included. */
export async function download({ url, headers = {} }) {
  const given = Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
  const format = '%{http_code} %{size_download} %{time_total}';
  const options = ['--silent', '--output', '/dev/null', '--write-out', format];
  const { stdout } = await execute('curl', [...options, ...given, url]);
  const [status, bytes, seconds] = stdout.split(' ').map(Number);
  if (status !== 200) throw new Error(`${url} answered ${status}`);
  return { bytes, seconds };
}
