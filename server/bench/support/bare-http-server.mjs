// node:http and nothing else: the most requests per second that Node answers on this machine.
import { createServer } from 'node:http';

const body = JSON.stringify({ ok: true });
const server = createServer((_request, response) =>
  response
    .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    .end(body),
);
server.listen(0, '127.0.0.1', () => console.log(`ready at http://127.0.0.1:${server.address().port}`));
process.once('SIGTERM', () => process.exit(0));
