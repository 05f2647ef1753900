/**
 * An instance that fires triggers, in its own process, so that a test can really kill it: a hundred that fire each
 * second, half of which miss no moment, and one for each event of a transaction. In place of plugins it ends their calls.
 *
 * Arguments: database URL, and the key of the store in hexadecimal.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { pluginEntrySchema } from '../../src/features/plugins/records/plugin.ts';
import { TriggerLoop } from '../../src/features/triggers/trigger-loop.ts';
import { createLog } from '../../src/observability/log.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres.ts';
import { createSealer } from '../../src/store/sealing.ts';
import { hastyLeases } from './postgres.ts';
import { TRIGGERS } from './trigger-stage.ts';

const [url = '', key = ''] = process.argv.slice(2);
const log = createLog('silent');
const sealer = createSealer([Buffer.from(key, 'hex')], randomBytes);
const store = await openPostgresStore({ url, log, sealer, ...hastyLeases });
const plugins = Object.entries(TRIGGERS).map(([id, triggers]) =>
  pluginEntrySchema.parse({ id, path: `${id}.ts`, triggers }),
);
new TriggerLoop({
  store,
  declared: () => plugins,
  calls: { wake: () => undefined },
  outbox: { triggerPaused: async () => undefined, committed: () => undefined },
  onNews: () => () => undefined,
  elapsed: () => performance.now(),
  newId: randomUUID,
  log,
  metrics: createMetrics(),
}).start();

for (;;) {
  await delay(50);
  try {
    const open = await store.read.openTriggerCalls();
    if (open.length === 0) continue;
    await store.write(async (writer) => {
      for (const { id } of open) await writer.stopCall(id, 'returned', null);
    });
  } catch {
    // The database was crashed.
  }
}
