// node:http and a file, and nothing else: what reading a file through Node costs at least.
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';

const file = process.env.BARE_FILE;
const { size } = statSync(file);
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': size });
  createReadStream(file).pipe(response);
});
server.listen(0, '127.0.0.1', () => console.log(`ready at http://127.0.0.1:${server.address().port}`));
process.once('SIGTERM', () => process.exit(0));
