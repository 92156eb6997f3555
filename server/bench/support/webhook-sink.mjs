// Receives webhooks in a process of its own: counts them, and how long after its event each one came. GET tells and forgets.
import { createServer } from 'node:http';

let count = 0;
let delays = [];
let lastAt = 0;

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify({ count, delays, lastAt }));
    count = 0;
    delays = [];
    return;
  }
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk) => {
    text += chunk;
  });
  request.on('end', () => {
    lastAt = Date.now();
    count += 1;
    delays.push(lastAt - Date.parse(JSON.parse(text).created_at));
    response.end();
  });
});
server.listen(0, '127.0.0.1', () =>
  console.log(`sink is ready at http://127.0.0.1:${server.address().port}/`),
);
