// The built product, for tests that start it as a process. The global set-up builds it.
import { fileURLToPath } from 'node:url';

export const dist = fileURLToPath(new URL('../../dist', import.meta.url));
