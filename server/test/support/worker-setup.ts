// Runs before every test file: a worker kills itself when the runner is gone, and the guard then kills what it started. Test
// files share workers, so the listener is added once.
const endWithRunner = () => process.kill(process.pid, 'SIGKILL');
if (!process.listeners('disconnect').some(({ name }) => name === endWithRunner.name))
  process.once('disconnect', endWithRunner);
