// Starts the bare handler, beside which Pakhus is measured: what the machine is worth at the moment shows in both.
import { fileURLToPath } from 'node:url';

export const startBare = (startServer, databaseUrl) =>
  startServer({
    name: 'bare',
    file: fileURLToPath(new URL('bare-server.mjs', import.meta.url)),
    ready: /ready at (\S+)/,
    environment: { DATABASE_URL: databaseUrl },
  });
