/**
 * The service, composed and started as in `src/main.ts`, in a process that makes a full garbage collection on SIGUSR2
 * and then prints the memory in use. Without a collection, garbage hides leaks.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { compose } from '../../../../src/app/compose.ts';
import { createChains } from '../../../../src/chains/registry.ts';
import { systemClock } from '../../../../src/domain/clock.ts';
import { createLog } from '../../../../src/observability/log.ts';
import { loadConfiguration } from '../../../../src/settings/load.ts';
import { createSignerKinds } from '../../../../src/signers/registry.ts';
import { COLLECTED } from './collection.ts';

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');
if (typeof collect !== 'function') throw new Error('this runtime cannot collect on demand');

process.on('SIGUSR2', () => {
  collect();
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  const heap = heapUsed + external;
  const held = { rss, heap, data: heap - compiled(), beside: rss - heapTotal };
  process.stderr.write(`${COLLECTED}${JSON.stringify(held)}\n`);
});

/** The size of compiled code in V8's heap, in bytes. */
function compiled(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name: name }) => /^(code|trusted)_/.test(name));
  return spaces.reduce((sum, { space_used_size: used }) => sum + used, 0);
}

const chains = createChains(systemClock);
const signerKinds = createSignerKinds();
const configuration = await loadConfiguration({ env: process.env, cwd: process.cwd(), chains, signerKinds });
const log = createLog(configuration.environment.LOG_LEVEL);
const service = await compose({ configuration, chains, signerKinds, log });
process.once('SIGTERM', () => {
  void service.close().then(() => process.exit(0));
});
// Frees the sources of loaded modules now. V8 would free these megabytes only some minutes later, in one step.
collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
log.info({ address: service.address }, 'ready');
