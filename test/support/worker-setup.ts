// Runs in every worker of the tests: without the runner, a worker ends, and with it whatever it has started.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
