import type { Clock } from '../../domain/clock.ts';
import { AppError, invalidRequest } from '../../domain/errors.ts';
import type { KeyedEffect } from '../../domain/idempotency.ts';
import type { WireObject } from '../../domain/json/json.ts';
import type { Engine } from '../../engine/engine.ts';
import { intentRefusal } from '../../engine/lane/intents.ts';
import type { Log } from '../../observability/log.ts';
import type { Store, StoredEffect, StoreWriter } from '../../store/store.ts';
import { auditTransactionRequest } from '../audit/audit-records.ts';
import { earlierEffect, writeEffectOnce } from '../recorded-effects.ts';
import type { RelayerDirectory } from '../relayers/relayer-access.ts';
import type { LifecycleService } from '../services.ts';
import type { IntentAction } from './records/intent.ts';
import { laneKey } from './records/lane.ts';
import type { Transaction } from './records/transaction.ts';
import { TIMELINE_EVENTS, timelineOf } from './timeline.ts';
import { findTransaction, pollTransaction } from './transaction-lookup.ts';

/** How long a request waits for the lane to carry out its intent. */
const SETTLING_MS = 2_500;
/**
 * The time between two checks of an intent's outcome. Polling is needed because another instance's notice of a change
 * may be lost.
 */
const LOOK_MS = 250;
/** The most intents in one commit, so that a long list does not block other writers. */
const INTENTS_PER_COMMIT = 100;

export interface LifecycleDeps {
  store: Store;
  relayers: RelayerDirectory;
  engine: Pick<Engine, 'wake' | 'onChange'>;
  log: Log;
  clock: Pick<Clock, 'elapsed'>;
  /** In milliseconds; {@link SETTLING_MS} unless given. */
  settlingMs?: number;
}

/**
 * Replaces and cancels accepted transactions, and shows their history. This service does not change a transaction
 * itself: it stores intents, and the transaction's lane carries them out between its own steps.
 */
export function createLifecycleService(deps: LifecycleDeps): LifecycleService {
  const { store, relayers, engine, log, clock, settlingMs = SETTLING_MS } = deps;

  /** Stores an intent, once for each keyed request. Resolves with the intent's position. */
  async function keep(
    transaction: Transaction,
    action: IntentAction,
    effect: KeyedEffect | undefined,
    note: (writer: StoreWriter) => Promise<void>,
  ): Promise<number> {
    const { id, lane } = transaction;
    const written = await writeEffectOnce(store, effect, async (writer) => {
      await note(writer);
      return { outcome: await writer.insertIntent({ transactionId: id, lane, action }), transactionId: id };
    });
    engine.wake(lane);
    return Number(written.made.outcome);
  }

  /**
   * Waits until the lane has carried out the intent, or for `settlingMs`.
   * @throws AppError `INVALID_REQUEST` when the lane has refused the intent by then
   */
  async function untilSettled(transactionId: string, position: number): Promise<void> {
    const look = async () => {
      const outcome = await store.read.intentOutcome(position);
      return outcome === 'waiting' ? undefined : (outcome ?? null);
    };
    const timing = { intervalMs: LOOK_MS, timeoutMs: settlingMs };
    const outcome = await pollTransaction({ engine, clock }, transactionId, look, timing);
    if (typeof outcome?.refusal === 'string') throw invalidRequest(outcome.refusal);
  }

  /**
   * Answers a repeat of a keyed request whose intent an earlier run stored. Checks that would refuse the request now do
   * not apply.
   */
  async function again(relayerId: string, transactionId: string, earlier: StoredEffect): Promise<WireObject> {
    const { chain } = await relayers.find(relayerId);
    await untilSettled(transactionId, Number(earlier.outcome));
    return chain.transactionView(await findTransaction(store.read, relayerId, transactionId));
  }

  return {
    async replace(relayerId, transactionId, body, { effect, actor } = {}) {
      const earlier = await earlierEffect(store.read, effect);
      if (earlier !== undefined) return again(relayerId, transactionId, earlier);
      const { relayer, chain, account, client } = await relayers.enter(relayerId);
      const identity = await store.read.chainIdentity(relayer.networkType, relayer.network);
      const { request, validUntil } = chain.parseRequest(body, { ...account, identity }, await store.now());
      const transaction = await findTransaction(store.read, relayerId, transactionId);
      assertRunning('replace', transaction);
      const { replacement } = client();
      if (replacement?.check === undefined)
        throw invalidRequest(`Replacing is not supported for ${chain.type} transactions`);
      replacement.check(request, await store.read.attempts(transactionId), account);
      const position = await keep(transaction, { kind: 'replace', request, validUntil }, effect, (writer) =>
        auditTransactionRequest(writer, actor, {
          action: 'replace',
          transaction,
          request: { of: chain, fields: request },
        }),
      );
      await untilSettled(transactionId, position);
      return chain.transactionView(await findTransaction(store.read, relayerId, transactionId));
    },

    async cancel(relayerId, transactionId, { effect, actor } = {}) {
      const earlier = await earlierEffect(store.read, effect);
      if (earlier !== undefined) return again(relayerId, transactionId, earlier);
      const { chain } = await relayers.findActive(relayerId);
      const transaction = await findTransaction(store.read, relayerId, transactionId);
      assertRunning('cancel', transaction);
      const position = await keep(transaction, { kind: 'cancel' }, effect, (writer) =>
        auditTransactionRequest(writer, actor, { action: 'cancel', transaction }),
      );
      await untilSettled(transactionId, position);
      return chain.transactionView(await findTransaction(store.read, relayerId, transactionId));
    },

    async cancelPending(relayerId, by) {
      await relayers.findActive(relayerId);
      const cancelable = await store.read.cancelable(relayerId);
      const queued: string[] = [];
      const failed: string[] = [];
      for (let start = 0; start < cancelable.length; start += INTENTS_PER_COMMIT) {
        const some = cancelable.slice(start, start + INTENTS_PER_COMMIT);
        const ids = some.map(({ id }) => id);
        try {
          await store.write(async (writer) => {
            for (const { id, lane } of some) {
              await writer.insertIntent({ transactionId: id, lane, action: { kind: 'cancel' } });
              await auditTransactionRequest(writer, by, { action: 'cancel', transaction: { id, relayerId } });
            }
          });
          queued.push(...ids);
          for (const lane of new Set(some.map(({ lane }) => lane))) engine.wake(lane);
        } catch (error) {
          log.error({ err: error, relayer: relayerId, transactions: ids.length }, 'cancellations could not be stored');
          failed.push(...ids);
        }
      }
      return {
        queued_for_cancellation_transaction_ids: queued,
        failed_to_queue_transaction_ids: failed,
        total_processed: cancelable.length,
      };
    },

    async bySequence(relayerId, sequence) {
      const { chain } = await relayers.find(relayerId);
      if (chain.sequence?.isLookedUp !== true) throw new AppError('NONCE_LOOKUP_NOT_SUPPORTED', {});
      const transaction = await store.read.transactionBySequence(relayerId, sequence);
      if (transaction === undefined) throw new AppError('NONCE_NOT_FOUND', { nonce: sequence.toString() });
      return chain.transactionView(transaction);
    },

    async byHash(relayerId, hash) {
      const { relayer, chain } = await relayers.find(relayerId);
      const identity = await store.read.chainIdentity(relayer.networkType, relayer.network);
      const lane = identity === undefined ? null : laneKey(relayer.networkType, identity, relayer.address);
      // Hexadecimal digits match in either case.
      const written = /^(0x)?[0-9a-f]+$/i.test(hash) ? hash.toLowerCase() : hash;
      const found = lane === null ? undefined : await store.read.transactionByHash(lane, written);
      if (found?.relayerId !== relayerId) throw new AppError('TRANSACTION_NOT_FOUND', { id: hash });
      return chain.transactionView(await findTransaction(store.read, relayerId, found.id));
    },

    async timeline(relayerId, transactionId) {
      const { chain } = await relayers.find(relayerId);
      const transaction = await findTransaction(store.read, relayerId, transactionId);
      const [attempts, decisions, intents, endedAt] = await Promise.all([
        store.read.attempts(transactionId),
        store.read.decisions(transactionId, TIMELINE_EVENTS),
        store.read.intentRecords(transactionId, TIMELINE_EVENTS),
        store.read.endedAt(transactionId),
      ]);
      return timelineOf({ transaction, attempts, decisions, intents, endedAt }, chain);
    },
  };
}

/**
 * A transaction that is in a block or has ended takes no more intents.
 * @throws AppError `INVALID_REQUEST` with the reference's text
 */
function assertRunning(kind: IntentAction['kind'], transaction: Transaction): void {
  const { status } = transaction;
  if (status === 'pending' || status === 'sent' || status === 'submitted') return;
  throw invalidRequest(intentRefusal(kind, transaction));
}
