// Starts the bare servers that Pakhus is compared with: the current speed of the machine affects both.
import { fileURLToPath } from 'node:url';

const bareServer = (name, file, environment = {}) => ({
  name,
  file: fileURLToPath(new URL(file, import.meta.url)),
  ready: /ready at (\S+)/,
  environment,
});

export const startBare = async (startServer, database) => ({
  ...(await startServer(bareServer('bare', 'bare-server.mjs', { DATABASE_URL: database.url }))),
  database,
});

export const startBareUpload = (startServer, environment = {}) =>
  startServer(bareServer('bare-upload', 'bare-upload-server.mjs', environment));

export const startBareHttp = (startServer) => startServer(bareServer('bare-http', 'bare-http-server.mjs'));

export const startBareFile = (startServer, file) =>
  startServer(bareServer('bare-file', 'bare-file-server.mjs', { BARE_FILE: file }));
