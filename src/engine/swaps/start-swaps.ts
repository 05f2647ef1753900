import { isDeepStrictEqual } from 'node:util';
import type { ChainConnections } from '../../chains/connections.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import type { Relayer } from '../../domain/relayer/relayer.ts';
import type { AnchorKind } from '../../domain/transaction/anchor.ts';
import { laneKey } from '../../domain/transaction/lane.ts';
import { newTransaction, type Transaction } from '../../domain/transaction/transaction.ts';
import type { Store, Writer } from '../../store/store.ts';
import type { HeldLease } from '../lease-keeper.ts';

export interface StartSwapsDeps {
  store: Store;
  connections: ChainConnections;
  /** A new id (`domain/ordered-id.ts`). */
  newId(): string;
}

/** Later than any transaction waits for. */
const EVER = Number.MAX_SAFE_INTEGER;
const MAX_WAITING = 100_000;

/**
 * Accepts a swap of each token that a relayer has enough of, unless a swap of that token is under way. The next swap
 * takes what that one leaves.
 * @returns the lane; undefined where nothing was started
 */
export async function startSwaps(
  { store, connections, newId }: StartSwapsDeps,
  relayer: Relayer,
  run: string,
  lease: HeldLease,
): Promise<string | undefined> {
  const { id: relayerId, networkType, network, address, policies } = relayer;
  const identity = await store.read.chainIdentity(networkType, network);
  if (identity === undefined) return undefined;
  const wanted = await connections.clientOf(relayer).swaps?.({ address, policies, identity });
  if (wanted === undefined || wanted.length === 0) return undefined;
  const lane = laneKey(networkType, identity, address);
  const now = await store.now();
  const started = await lease.write(async (writer) => {
    if (!(await writer.holdRelayer(relayerId))) return 0;
    const open = await openRequests(writer, lane, new Set(wanted.map(({ anchorKind }) => anchorKind)));
    const fresh = wanted.filter(({ request }) => !open.some((one) => isDeepStrictEqual(one, request)));
    let count = 0;
    for (const parsed of fresh) {
      const contentKey = `${parsed.contentKey ?? ''} ${run}`;
      // Another instance has started this run already.
      if ((await writer.transactionByContent(lane, contentKey)) !== undefined) continue;
      await writer.insertTransaction(
        newTransaction({ ...parsed, contentKey, id: newId(), relayerId, networkType, lane, createdAt: now }),
      );
      count += 1;
    }
    return count;
  });
  return started === 0 ? undefined : lane;
}

/** The requests of all transactions of the lane that have not ended, whoever asked for them. */
async function openRequests(writer: Writer, lane: string, kinds: ReadonlySet<AnchorKind>): Promise<JsonObject[]> {
  const pending: Transaction[] = [];
  for (const kind of kinds) pending.push(...(await writer.duePending(lane, kind, EVER, MAX_WAITING)));
  const signed = await writer.openTransactions(lane);
  return [...pending, ...signed.map(({ transaction }) => transaction)].map(({ request }) => request);
}
