/**
 * An engine in a process of its own, over a store on disk and a real node, so that it can be killed for real. With
 * `hang` it stops for ever at the moment at which the first byte would leave, and says so.
 *
 * Arguments: database file, node's address, file with the private key, `hang` or `go`.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ChainClient } from '../../src/chains/chain.ts';
import { createEvmChain } from '../../src/chains/evm/index.ts';
import { systemClock } from '../../src/domain/clock.ts';
import type { Attempt } from '../../src/domain/transaction.ts';
import { Outbox } from '../../src/engine/outbox.ts';
import { createEngine } from '../../src/engine/scheduler.ts';
import { createLog } from '../../src/observability/log.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import { FakeEngineMetrics } from './engine-world.ts';
import { openEvm, signerOf } from './evm.ts';

const [path = '', url = '', keyFile = '', mode] = process.argv.slice(2);
const signer = signerOf({ privateKey: readFileSync(keyFile, 'utf8') });
const { client } = openEvm([url], { required_confirmations: 1 });
const log = createLog('silent');

/** Tells what is about to leave, and lets it leave or not. */
const watched: ChainClient = {
  ...client,
  async broadcast(attempt: Attempt) {
    process.stdout.write(`${attempt.raw}\n`);
    return mode === 'hang' ? await new Promise<never>(() => {}) : client.broadcast(attempt);
  },
};

const chains = new Map([['evm' as const, createEvmChain(systemClock)]]);
const engine = createEngine({
  store: await openSqliteStore({ path, log, clock: systemClock }),
  chains,
  connections: { clientOf: () => watched, close: async () => {} },
  signerOf: async () => signer,
  log,
  metrics: new FakeEngineMetrics(),
  outbox: new Outbox({ chains, newId: randomUUID, now: systemClock.now, onCommitted: () => {}, log }),
  clock: systemClock,
  random: Math.random,
});
await engine.start();
// Lives until it is killed.
setInterval(() => {}, 60_000);
