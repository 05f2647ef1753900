/**
 * The service as `src/main.ts` starts it, in a process that collects its garbage when SIGUSR2 asks for it and then says what
 * is left: what lies about between two collections is no leak, and hides one.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { COLLECTED } from './resident.ts';

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');
if (typeof collect !== 'function') throw new Error('this runtime cannot collect on demand');

process.on('SIGUSR2', () => {
  collect();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.stderr.write(`${COLLECTED}${JSON.stringify({ rss, heap: heapUsed + external })}\n`);
});
await import('../src/main.ts');
