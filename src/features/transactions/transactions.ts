import { setImmediate as turn } from 'node:timers/promises';
import type { Chain } from '../../chains/chain.ts';
import type { ParsedRequest } from '../../chains/chain-client.ts';
import type { Clock } from '../../domain/clock.ts';
import { AppError } from '../../domain/errors.ts';
import { memoizePerObject, type WireObject } from '../../domain/json/json.ts';
import type { Page, PageRequest } from '../../domain/page.ts';
import { whenKnown } from '../../domain/when-known.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Log } from '../../observability/log.ts';
import type { Metrics } from '../../observability/metrics.ts';
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts';
import { auditTransactionRequest } from '../audit/audit-records.ts';
import { createSpendingGuard } from '../plugins/spending.ts';
import { earlierEffect, writeEffectOnce } from '../recorded-effects.ts';
import { networkNotReached } from '../relayers/records/relayer.ts';
import type { RelayerAccess, RelayerDirectory } from '../relayers/relayer-access.ts';
import type { TransactionsService } from '../services.ts';
import { chainOfLane, laneKey } from './records/lane.ts';
import { newTransaction, type Transaction } from './records/transaction.ts';
import { endsPluginWait, isFinal, type TransactionStatus } from './records/transaction-state.ts';
import { findTransaction, pollTransaction } from './transaction-lookup.ts';

/**
 * The shortest time between two reads of a transaction that somebody waits for. The engine announces every change, so
 * these reads only find changes whose notice was lost. The limit keeps many waiting callers from loading the store.
 */
const MIN_INTERVAL_MS = 1_000;

export interface TransactionsDeps {
  store: Store;
  relayers: RelayerDirectory;
  engine: Pick<Engine, 'wake' | 'onChange'>;
  metrics: Metrics;
  clock: Pick<Clock, 'elapsed'>;
  log: Log;
  /** A new id (`domain/id.ts`). */
  newId(): string;
}

/**
 * Finds the transaction that a client's signed bytes already are, unless it ended without effect. Posted twice, the
 * bytes have one effect.
 * @throws AppError `TRANSACTION_EXISTS` when it belongs to another relayer
 */
async function twinOf(
  read: Pick<StoreReader, 'transactionByContent' | 'transactionByHash'>,
  { lane, contentKey, relayerId }: Transaction,
  signedAs: string | undefined,
): Promise<string | undefined> {
  const same = contentKey === null ? undefined : await read.transactionByContent(lane, contentKey);
  const twin = same ?? (signedAs === undefined ? undefined : await read.transactionByHash(lane, signedAs));
  if (twin !== undefined && twin.relayerId !== relayerId) throw new AppError('TRANSACTION_EXISTS', {});
  return twin?.id;
}

/** @throws AppError `RELAYER_NOT_FOUND` */
async function holdRelayer(writer: StoreWriter, relayerId: string): Promise<void> {
  if (!(await writer.holdRelayer(relayerId))) throw new AppError('RELAYER_NOT_FOUND', { id: relayerId });
}

/** A parsed request, and the transaction it would become. */
interface Parsed {
  parsed: ParsedRequest;
  transaction: Transaction;
}

/** Waits for signatures, for callers that answer with one. */
export interface SignatureWait {
  /** Resolves with the transaction once it is signed or has ended, or with `undefined` after `timeoutMs`. */
  untilSigned(relayerId: string, transactionId: string, timeoutMs: number): Promise<WireObject | undefined>;
  /** Whether a client's signed bytes are a transaction already. False for an invalid request. */
  isKnown(relayerId: string, body: unknown): Promise<boolean>;
}

/** Accepts transactions and shows their state. */
export function createTransactionsService(deps: TransactionsDeps): TransactionsService & SignatureWait {
  const { store, relayers, engine, metrics, clock, log, newId } = deps;
  const spending = createSpendingGuard(store);
  /**
   * Caches the view of a transaction record, because clients poll a transaction until it ends. The view is the same as
   * long as the store returns the same record.
   */
  const viewOf = memoizePerObject((transaction: Transaction) =>
    Object.freeze(relayers.chainOf(transaction).transactionView(transaction)),
  );

  /** The store returns the same page, too, as long as nothing was written. */
  const viewsOf = memoizePerObject(({ items }: Page<Transaction>) => Object.freeze(items.map(viewOf)) as WireObject[]);

  /** Reads all that an acceptance depends on at once, which costs one round trip to PostgreSQL. */
  async function accept(relayerId: string, body: unknown): Promise<Parsed & { access: RelayerAccess }> {
    const [access, facts] = await Promise.all([relayers.enter(relayerId), factsOf(relayerId)]);
    const { parsed, transaction } = parse(access, facts, body);
    const { account, client } = access;
    // A known transaction was screened when it was new.
    if ((await twinOf(store.read, transaction, parsed.signedAs)) === undefined)
      await client().screen?.(parsed, { ...account, identity: chainOfLane(transaction.lane) });
    return { access, parsed, transaction };
  }

  /** The time, and the chain of a relayer. */
  async function factsOf(relayerId: string): Promise<{ now: number; identity: string | undefined }> {
    const [now, identity] = await Promise.all([store.now(), store.read.chainIdentityOfRelayer(relayerId)]);
    return { now, identity };
  }

  /** Parses a request and makes its transaction. */
  function parse(
    { relayer, chain, account }: RelayerAccess,
    { now, identity }: Awaited<ReturnType<typeof factsOf>>,
    body: unknown,
  ): Parsed {
    const { id: relayerId, networkType, network, address } = relayer;
    const parsed = chain.parseRequest(body, { ...account, identity }, now);
    // This happens only before the relayer's first check has ended. Until then, the chain of the network is unknown.
    if (identity === undefined) throw networkNotReached(network);
    const lane = laneKey(networkType, identity, address);
    const transaction = newTransaction({ ...parsed, id: newId(), relayerId, networkType, lane, createdAt: now });
    return { parsed, transaction };
  }

  function view(relayerId: string, transactionId: string): WireObject | Promise<WireObject> {
    return whenKnown(findTransaction(store.read, relayerId, transactionId), viewOf);
  }

  /**
   * Returns the status that a mined transaction has unless its block is reorganised away. A caller that waits for
   * mining must not mistake a revert, or the noop of a canceled transaction, for success.
   */
  async function statusInBlock(chain: Chain, transaction: Transaction): Promise<TransactionStatus> {
    const { id, status, hash, noopEnd } = transaction;
    if (status !== 'mined') return status;
    const attempts = noopEnd === null ? [] : await store.read.attempts(id);
    if (noopEnd !== null && attempts.find((one) => one.hash === hash)?.purpose === 'noop') return noopEnd;
    return chain.failedInBlock?.(transaction) === true ? 'failed' : 'mined';
  }

  const looks = new Map<string, Promise<Transaction>>();

  /** Reads a transaction once for all callers in the same turn, such as those that one change has woken. */
  function look(relayerId: string, transactionId: string): Promise<Transaction> {
    const key = JSON.stringify([relayerId, transactionId]);
    const begun = looks.get(key);
    if (begun !== undefined) return begun;
    const looking = turn().then(() => {
      // A later caller may know of a change that this read misses.
      looks.delete(key);
      return findTransaction(store.read, relayerId, transactionId);
    });
    looks.set(key, looking);
    return looking;
  }

  /** Waits until `holds` is true. Checks after each change, and at intervals. Undefined after the time-out. */
  function until(
    relayerId: string,
    transactionId: string,
    holds: (transaction: Transaction) => boolean,
    { intervalMs, timeoutMs }: { intervalMs: number; timeoutMs: number },
    signal?: AbortSignal,
  ): Promise<Transaction | undefined> {
    const found = async () => {
      const transaction = await look(relayerId, transactionId);
      return holds(transaction) ? transaction : undefined;
    };
    const timing = { intervalMs: Math.max(intervalMs, MIN_INTERVAL_MS), timeoutMs, ...(signal && { signal }) };
    return pollTransaction({ engine, clock }, transactionId, found, timing);
  }

  return {
    async send(relayerId, body, { effect, spender, actor } = {}) {
      const earlier = await earlierEffect(store.read, effect);
      if (earlier !== undefined) return view(relayerId, earlier.transactionId ?? '');
      const { access, parsed, transaction } = await accept(relayerId, body);
      const { id, request, contentKey } = transaction;
      if (actor?.pluginId !== undefined) {
        const { pluginId, depth = 0, since } = actor;
        transaction.origin = { pluginId, depth, ...(since !== undefined && { since }) };
      }
      const asked = { chain: access.chain, relayerId, transactionId: id, request };
      // Neither a budget nor an earlier transaction is looked at.
      const isApart = spender === undefined && contentKey === null && parsed.signedAs === undefined;
      const { made } = await spending.within(spender, asked, (reserve) => {
        const write = async (writer: StoreWriter) => {
          const accepted = async () => {
            const twin = await twinOf(writer, transaction, parsed.signedAs);
            if (twin !== undefined) return twin;
            await reserve(writer);
            await Promise.all([
              writer.insertTransaction(transaction),
              auditTransactionRequest(writer, actor, {
                action: 'send',
                transaction,
                request: { of: access.chain, fields: request },
              }),
            ]);
            return id;
          };
          // What is asked for at once costs one round trip to PostgreSQL. If the relayer is gone, all of it is undone.
          const [transactionId] = await Promise.all([accepted(), holdRelayer(writer, relayerId)]);
          return { outcome: null, transactionId };
        };
        return writeEffectOnce(store, effect, write, { isApart });
      });
      if (made.transactionId !== id) return view(relayerId, made.transactionId ?? '');
      metrics.count('transactions_created', { relayer_id: relayerId, network_type: transaction.networkType });
      log.info({ transaction: id, relayer: relayerId, ...actor }, 'transaction accepted');
      engine.wake(transaction.lane);
      return access.chain.transactionView(transaction);
    },

    async isKnown(relayerId, body) {
      const [access, facts] = await Promise.all([relayers.findActive(relayerId), factsOf(relayerId)]);
      try {
        const { parsed, transaction } = parse(access, facts, body);
        return (await twinOf(store.read, transaction, parsed.signedAs)) !== undefined;
      } catch (error) {
        if (error instanceof AppError && error.code === 'INVALID_REQUEST') return false;
        throw error;
      }
    },

    get: view,

    list(
      relayerId: string,
      page: PageRequest,
      status?: TransactionStatus,
    ): Page<WireObject> | Promise<Page<WireObject>> {
      return whenKnown(relayers.assertThere(relayerId), () =>
        whenKnown(store.read.transactions(relayerId, page, status), (found) => ({
          items: viewsOf(found),
          total: found.total,
        })),
      );
    },

    async wait(relayerId, transactionId, timing, signal) {
      const { chain } = await relayers.find(relayerId);
      const ends = timing.isFinal === true ? isFinal : endsPluginWait;
      const ended = await until(relayerId, transactionId, ({ status }) => ends(status), timing, signal);
      if (ended === undefined) return undefined;
      return chain.transactionView({ ...ended, status: await statusInBlock(chain, ended) });
    },

    async untilSigned(relayerId, transactionId, timeoutMs) {
      const { chain } = await relayers.find(relayerId);
      const isSigned = ({ hash, status }: Transaction) => hash !== null || isFinal(status);
      const timing = { intervalMs: MIN_INTERVAL_MS, timeoutMs };
      const signed = await until(relayerId, transactionId, isSigned, timing);
      return signed && chain.transactionView(signed);
    },
  };
}
