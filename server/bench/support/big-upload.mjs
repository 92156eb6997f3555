// Runs the processes that send large uploads.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const programIn = (file) => fileURLToPath(new URL(file, import.meta.url));
const forms = programIn('send-large.mjs');
const chunks = programIn('send-chunks.mjs');

/** `count` uploads of `bytes` each, sent at once. Resolves to their duration and to how many had to be sent again. */
export async function sendLarge(target, { bytes, count = 1 }) {
  return resultOf(start(forms, { ...target, bytes, count }));
}

/** One upload by tus, to the first URL of the target. Resolves to its duration. */
export async function sendChunks({ urls: [url], headers }, { bytes, chunkBytes }) {
  return resultOf(start(chunks, { url, headers, bytes, chunkBytes }));
}

async function resultOf({ sender, output }) {
  const [code] = await once(sender, 'close');
  if (code !== 0) throw new Error(`the sender of uploads failed:\n${output()}`);
  return JSON.parse(output());
}

/** Keeps `count` uploads going until `stop`. */
export function keepSending(target, { bytes, count }) {
  const { sender, output } = start(forms, { ...target, bytes, count, repeat: true });
  const closed = once(sender, 'close');
  return {
    stop: async () => {
      if (sender.exitCode !== null) throw new Error(`the sender of uploads ended:\n${output()}`);
      sender.kill();
      await closed;
    },
  };
}

function start(program, options) {
  const sender = spawn(process.execPath, [program, JSON.stringify(options)]);
  let text = '';
  for (const stream of [sender.stdout, sender.stderr])
    stream.setEncoding('utf8').on('data', (more) => {
      text += more;
    });
  return { sender, output: () => text };
}
