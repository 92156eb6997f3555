// The built product, for tests that start it as a process of its own. The global set-up has built it.
import { fileURLToPath } from 'node:url';

export const dist = fileURLToPath(new URL('../../dist', import.meta.url));
