/**
 * An engine in its own process, over a store on disk or on PostgreSQL and a real node, so that a test can really kill
 * it. It prints which bytes it is about to send. With `hang` it stops for ever at that moment. With `freeze` the whole
 * process stops before the first send, until it is told to continue.
 *
 * Arguments: database file or URL, node's address, file with the private key, `hang`, `freeze` or `go`.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, writeSync } from 'node:fs';
import type { ChainClient } from '../../src/chains/chain-client.ts';
import { createEvmChain } from '../../src/chains/evm/index.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { createEngine } from '../../src/engine/scheduler.ts';
import { Outbox } from '../../src/engine/webhooks/outbox.ts';
import type { Attempt } from '../../src/features/transactions/records/attempt.ts';
import { createLog } from '../../src/observability/log.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts';
import { openEvm, signerOf } from './evm.ts';
import { hastyLeases } from './postgres.ts';
import { RecordedMetrics } from './recorded-metrics.ts';

const [path = '', url = '', keyFile = '', mode] = process.argv.slice(2);
const signer = signerOf({ privateKey: readFileSync(keyFile, 'utf8') });
const { client } = openEvm([url], { required_confirmations: 1 });
const log = createLog('silent');

let mayFreeze = mode === 'freeze';

/** Prints the bytes that are about to be sent, and then sends them or not. */
const watched: ChainClient = {
  ...client,
  async broadcast(attempts: readonly Attempt[]) {
    for (const { raw } of attempts) writeSync(process.stdout.fd, `${raw}\n`);
    if (mayFreeze) {
      mayFreeze = false;
      process.kill(process.pid, 'SIGSTOP');
    }
    return mode === 'hang' ? await new Promise<never>(() => {}) : client.broadcast(attempts);
  },
};

const chains = new Map([['evm' as const, createEvmChain(systemClock)]]);
const engine = createEngine({
  store: await (path.startsWith('postgres:')
    ? openPostgresStore({ url: path, log, ...hastyLeases })
    : openSqliteStore({ path, log, clock: systemClock })),
  chains,
  connections: { clientOf: () => watched, close: async () => {} },
  signerOf: async () => signer,
  log,
  metrics: new RecordedMetrics(),
  outbox: new Outbox({ chains, newId: randomUUID, now: systemClock.now, onCommitted: () => {}, log }),
  clock: systemClock,
  random: Math.random,
  newId: randomUUID,
});
await engine.start();
// Lives until it is killed.
setInterval(() => {}, 60_000);
