import { randomUUID } from 'node:crypto';
import { createChains } from '../chains/registry.ts';
import { systemClock } from '../domain/clock.ts';
import { ChangeFeed } from '../engine/change-feed.ts';
import { failUnsigned } from '../engine/fail-unsigned.ts';
import { beginEpoch } from '../engine/history-keeper.ts';
import { SpendingBook } from '../engine/lane/attempts/spending-book.ts';
import { Ledger } from '../engine/lane/ledger.ts';
import { Outbox } from '../engine/webhooks/outbox.ts';
import { createLog } from '../observability/log.ts';
import { createMetrics } from '../observability/metrics.ts';
import type { KnownHistory } from '../store/sqlite/folder-memory.ts';
import type { Store } from '../store/store.ts';

/** What to do with transactions that a copy holds unsigned: the service may have sent them since it was made. */
export type UnsignedAnswer = 'send' | 'fail';

/** A copy that must not simply be used: it holds transactions that nobody had signed. */
export class UnsignedTransactions extends Error {
  constructor(count: number) {
    super(`The database holds ${count} transactions that were accepted and not yet signed`);
    this.name = 'UnsignedTransactions';
  }
}

/** Longer than the time between two marks of an instance. */
const ALIVE_MS = 15_000;

/**
 * Settles what a database that was put back holds unsigned, and lets it begin a new epoch: no instance asks again.
 * Nothing is changed when it throws.
 * @throws UnsignedTransactions when there are some and there is no answer, or an error while an instance uses it
 */
export async function answerUnsigned(
  store: Store,
  { answer, folder }: { answer: UnsignedAnswer | undefined; folder: string },
): Promise<KnownHistory> {
  const { marks } = await store.read.history();
  const latest = Math.max(0, ...[...marks.values()].map(({ at }) => at));
  const agoMs = (await store.now()) - latest;
  if (store.buckets !== null && agoMs < ALIVE_MS) {
    const seconds = Math.ceil((ALIVE_MS - agoMs) / 1000);
    throw new Error(`An instance uses this database, or did until just now. Stop all, and try again in ${seconds} s`);
  }
  const count = await store.read.unsignedCount();
  if (count > 0 && answer === undefined) throw new UnsignedTransactions(count);
  if (answer === 'fail') await failUnsigned(store, ledgerOn(store));
  const place = await store.place();
  return await store.write((writer) => beginEpoch(writer, { folder, epoch: randomUUID(), place }));
}

/** What the engine changes transactions through, for a database that it does not drive. */
function ledgerOn(store: Store): Ledger {
  const chains = createChains(systemClock);
  const log = createLog('silent');
  return new Ledger(store, {
    feed: new ChangeFeed(() => undefined),
    metrics: createMetrics().engine,
    outbox: new Outbox({ chains, newId: randomUUID, now: systemClock.now, onCommitted: () => undefined, log }),
    spending: new SpendingBook(chains),
    log,
    // Nobody has a picture of it.
    onDoubt: () => undefined,
  });
}
