// Runs before every test file: without the runner, a worker ends, and with it whatever it has started. Files share
// their worker, which needs to be told once.
const endWithRunner = () => process.kill(process.pid, 'SIGKILL');
if (!process.listeners('disconnect').some(({ name }) => name === endWithRunner.name))
  process.once('disconnect', endWithRunner);
