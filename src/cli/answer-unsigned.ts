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

/**
 * What to do with unsigned transactions in a restored copy. The service may have sent them after the copy was made.
 * `compare`: the service compares them with the chain when it starts.
 */
export type UnsignedAnswer = 'send' | 'fail' | 'compare';

/** The copy holds unsigned transactions, so it needs an answer before it is used. */
export class UnsignedTransactions extends Error {
  constructor(count: number) {
    super(`The database holds ${count} transactions that were accepted and not yet signed`);
    this.name = 'UnsignedTransactions';
  }
}

/**
 * The time after which an instance without a new mark counts as stopped. It is longer than the time between two marks.
 */
const ALIVE_MS = 15_000;

/**
 * Settles the unsigned transactions of a restored database and starts a new epoch, so that no instance asks again.
 * Changes nothing when it throws.
 * @throws UnsignedTransactions when there are unsigned transactions and no answer, or an error while an instance uses
 * the database
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
  return await store.write(async (writer) => {
    const release = answer === 'send' ? { upTo: await writer.latestAcceptance(), endsAt: null } : null;
    await writer.putRelease(release);
    return beginEpoch(writer, { folder, epoch: randomUUID(), place });
  });
}

/** Creates the engine's ledger for a database that no engine runs on. */
function ledgerOn(store: Store): Ledger {
  const chains = createChains(systemClock);
  const log = createLog('silent');
  return new Ledger(store, {
    feed: new ChangeFeed(() => undefined),
    metrics: createMetrics().engine,
    outbox: new Outbox({ chains, newId: randomUUID, now: systemClock.now, onCommitted: () => undefined, log }),
    spending: new SpendingBook(chains),
    log,
    // No engine holds this state in memory.
    onDoubt: () => undefined,
  });
}
