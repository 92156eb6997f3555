// As much of S3 as an upload needs. It keeps only lengths, so that benches measure the cost of Pakhus and not of the
// store.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

const mark = 'x-amz-meta-pakhus-upload';

/** Resolves to the environment of a Pakhus that stores there. */
export async function startS3Sink() {
  const objects = new Map();
  const uploads = new Map();
  const sink = createServer(async (request, answer) => {
    const { pathname: key, searchParams: query } = new URL(request.url, 'http://sink');
    const uploadId = query.get('uploadId');
    let bytes = 0;
    for await (const chunk of request) bytes += chunk.length;
    if (request.method === 'HEAD') return describe(objects.get(key), answer);
    if (query.has('uploads')) {
      const id = String(uploads.size + 1);
      uploads.set(id, { bytes: 0, mark: request.headers[mark] });
      return answer.end(
        `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      );
    }
    if (request.method === 'PUT' && uploadId) uploads.get(uploadId).bytes += bytes;
    else if (request.method === 'PUT') objects.set(key, { bytes });
    else if (request.method === 'POST' && uploadId) {
      objects.set(key, uploads.get(uploadId));
      return answer.end('<CompleteMultipartUploadResult/>');
    }
    answer.setHeader('etag', '"sink"').end();
  })
    .listen(0, '127.0.0.1')
    .unref();
  await once(sink, 'listening');
  return {
    S3_ENDPOINT: `http://127.0.0.1:${sink.address().port}`,
    S3_BUCKET: 'bench',
    S3_ACCESS_KEY_ID: 'bench',
    S3_SECRET_ACCESS_KEY: 'a secret that only the benches know about',
    S3_FORCE_PATH_STYLE: 'true',
  };
}

/** The same in a process of its own. */
export async function startS3SinkProcess() {
  const child = fork(fileURLToPath(new URL('s3-sink-process.mjs', import.meta.url)));
  const [environment] = await once(child, 'message');
  return { environment, stop: () => child.disconnect() };
}

/** Answers for a bucket like for an object: the service checks its buckets at startup. */
function describe(object = { bytes: 0 }, answer) {
  if (object.mark) answer.setHeader(mark, object.mark);
  answer.setHeader('content-length', object.bytes).setHeader('etag', '"sink"').end();
}
