/**
 * The service, put together and started as `src/main.ts` does it, in a process that collects its garbage when SIGUSR2 asks
 * for it and then says what is left: what lies about between two collections is no leak, and hides one.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createChains } from '../src/chains/registry.ts';
import { compose } from '../src/compose.ts';
import { loadConfiguration } from '../src/config/load.ts';
import { systemClock } from '../src/domain/clock.ts';
import { createLog } from '../src/observability/log.ts';
import { createSignerKinds } from '../src/signers/registry.ts';
import { COLLECTED } from './collection.ts';

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');
if (typeof collect !== 'function') throw new Error('this runtime cannot collect on demand');

process.on('SIGUSR2', () => {
  collect();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.stderr.write(`${COLLECTED}${JSON.stringify({ rss, heap: heapUsed + external })}\n`);
});

const chains = createChains(systemClock);
const signerKinds = createSignerKinds();
const configuration = await loadConfiguration({ env: process.env, cwd: process.cwd(), chains, signerKinds });
const log = createLog(configuration.environment.LOG_LEVEL);
const service = await compose({ configuration, chains, signerKinds, log });
process.once('SIGTERM', () => {
  void service.close().then(() => process.exit(0));
});
log.info({ address: service.address }, 'ready');
