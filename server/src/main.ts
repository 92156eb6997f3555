// The process of the image: runs a command if there are arguments, otherwise the service.
import { runCommand } from './cli.ts';
import { runService } from './serve.ts';

const words = process.argv.slice(2);
if (words.length === 0) await runService();
else {
  // Output that cannot be written is dropped; `write` reports it.
  process.stdout.on('error', () => undefined);
  process.exitCode = await runCommand(words, process.env, {
    say: (line) => void process.stdout.write(`${line}\n`),
    complain: (line) => void process.stderr.write(`${line}\n`),
    write: (text) =>
      new Promise<void>((resolve, reject) => {
        process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
      }),
  });
}
