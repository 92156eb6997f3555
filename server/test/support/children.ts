// Processes that tests start end with the process that started them, however that one ends. Each test process has one
// guard, which reads the ids of its children from a pipe; when the pipe closes, it kills those that are left.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import type { Writable } from 'node:stream';

// In a session of its own, where Ctrl-C does not reach it. A server that a test has paused is woken up to see that its
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

/** Hands a process that was just started to the guard. */
export function endWithUs<Child extends ChildProcess>(child: Child): Child {
  const { pid } = child;
  if (pid === undefined) return child;
  tellGuard('started', pid);
  child.once('exit', () => tellGuard('ended', pid));
  return child;
}

export const spawnChild = (command: string, args: readonly string[], options: SpawnOptions): ChildProcess =>
  endWithUs(spawn(command, args, options));
