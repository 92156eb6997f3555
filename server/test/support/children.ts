// Kills the processes a test started when the test process ends, however it ends. Each test process has one guard, which
// reads the pids of its children from a pipe and kills the remaining ones when the pipe closes.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

// In its own session, where Ctrl-C does not reach it. It resumes servers that a test paused, so that they notice that their
// parent is gone.
const guardScript = `trap '' HUP INT TERM
alive=' '
while read -r change pid; do
  case $change in
    started) alive="$alive$pid " ;;
    ended) case $alive in *" $pid "*) alive="\${alive%% $pid *} \${alive#* $pid }" ;; esac ;;
  esac
done
for pid in $alive; do
  below=$(pgrep -P "$pid")
  kill -KILL "$pid"
  for each in $below; do kill -CONT "$each"; done
done 2>/dev/null`;

let guard: Writable | null = null;

function tellGuard(change: 'started' | 'ended', pid: number): void {
  guard ??= startGuard();
  guard.write(`${change} ${pid}\n`);
}

function startGuard(): Writable {
  const child = spawn('/bin/sh', ['-c', guardScript, 'pakhus-test-guard'], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  const lifeline = child.stdin as Writable & { unref?: () => void };
  lifeline.on('error', () => undefined);
  lifeline.unref?.();
  return lifeline;
}

/** Registers a process with the guard. */
export function endWithUs<Child extends ChildProcess>(child: Child): Child {
  const { pid } = child;
  if (pid === undefined) return child;
  tellGuard('started', pid);
  child.once('exit', () => tellGuard('ended', pid));
  return child;
}

export const spawnChild = (command: string, args: readonly string[], options: SpawnOptions): ChildProcess =>
  endWithUs(spawn(command, args, options));
