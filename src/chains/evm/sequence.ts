import type { Json } from '../../domain/json/json.ts';
import type { ReadFromEndpoint, RpcClient } from '../../egress/rpc/rpc-client.ts';
import { askOptionalFigure } from '../optional-figure.ts';
import { answersInTime, medianOf } from '../quorum.ts';
import { findNonceUse } from './inclusion/nonce-use.ts';
import { undefinedIfRefused } from './inclusion/receipts.ts';
import { blockNumber, onlyOnChain, parseQuantity, transactionCount } from './rpc-calls.ts';

/**
 * How many uses of the key by others are credible between two questions. A count beyond that needs more than one node's
 * word.
 */
const FOREIGN_USES = 64n;

/** The account whose next nonce is asked for, and the nonce to expect at least. */
export interface NonceQuery {
  chain: bigint;
  address: string;
  /** Undefined: one node's word is enough. Null: nothing is known of the account, and all nodes are asked. */
  least: bigint | null | undefined;
}

/**
 * The next nonce of an account, from one node that serves the chain. All nodes are asked if the answer is lower than
 * expected or far too high, or if nothing is known of the account. Of two answers the higher counts, because the other
 * node is behind. If the higher one is far beyond what is known, the lower one counts.
 *
 * A count above the expected one that no second node reports needs more: it does not count if the state of the node's
 * own chain denies it. If it is far above, that state or a transaction of the account in a block has to show it.
 * Otherwise payments would be signed under nonces that the account does not reach.
 * @throws UnprovedLeap
 */
export async function nextNonceOnChain(rpc: RpcClient, { chain, address, least }: NonceQuery): Promise<bigint> {
  const own = onlyOnChain(chain, rpc);
  const reported = await nextNonce(own, address);
  if (least === undefined || reported === least) return reported;
  const isFar = (count: bigint, known = least) => known !== null && count > known + FOREIGN_USES;
  const isQuick = least !== null && reported > least && !isFar(reported);
  const all =
    rpc.endpointCount < 2 || isQuick ? [reported] : await answersInTime(own.onAll((read) => nonceBy(read, address)));
  const middle = medianOf(all, 'higher') ?? reported;
  const count = isFar(middle) ? (medianOf(all, 'lower') ?? reported) : middle;
  const isAlone = all.filter((one) => one >= count).length < 2;
  if (count > (least ?? 0n) && isAlone) {
    const shown = await own.onOne((read) => reachedOn(read, address, count));
    const mayPass = shown === 'unproved' && !isFar(count);
    if (shown !== 'shown' && !mayPass) throw new UnprovedLeap(count, least);
  }
  return count;
}

/** One node alone reports a count that nothing else bears out. */
export class UnprovedLeap extends Error {
  constructor(count: bigint, known: bigint | null) {
    const from = known === null ? 'nothing is known of it here' : `the nonce after those known here is ${known}`;
    super(
      `One endpoint alone reports nonce ${count} for this account, ${from}, and neither the state of its chain nor a ` +
        'transaction of the account shows that. Waiting until that is so. If something else really used the key, add a second endpoint to the network (rpc_urls)',
    );
    this.name = 'UnprovedLeap';
  }
}

/** The next nonce of an account by one node's view: what is in blocks or in its pool. */
export function nextNonce(rpc: RpcClient, address: string): Promise<bigint> {
  return rpc.onOne((read) => nonceBy(read, address));
}

/**
 * Asks for both counts and takes the higher. Some nodes keep no pool, some do not know the tag `pending`, and some
 * answer it with less than `latest`, which is enough to send.
 */
async function nonceBy(read: ReadFromEndpoint, address: string): Promise<bigint> {
  const [pending = 0n, latest] = await Promise.all([
    askOptionalFigure(read, {
      method: 'eth_getTransactionCount',
      params: [address, 'pending'],
      parse: parseQuantity,
      cost: 'Transactions that others sent with the key are seen once they are in a block, not in the pool before',
    }),
    transactionCount(read, address, 'latest'),
  ]);
  return pending > latest ? pending : latest;
}

/**
 * Whether a node shows, by other means than its counts, that an account has come so far. Its state tells (EIP-1186), or
 * else the transaction that used the last nonce. Transactions of others in the pool are in neither, so a few may be
 * missing.
 */
async function reachedOn(
  read: ReadFromEndpoint,
  address: string,
  count: bigint,
): Promise<'shown' | 'denied' | 'unproved'> {
  const latest = await transactionCount(read, address, 'latest');
  const isInReach = (nonce: bigint) => count <= nonce + FOREIGN_USES;
  const state = await nonceInState(read, address).catch(() => undefined);
  if (state !== undefined && latest <= state && isInReach(state)) return 'shown';
  const lost = { account: address.toLowerCase(), sequence: latest - 1n, hashes: [] };
  const search = async () => findNonceUse(read, lost, await blockNumber(read));
  const use = latest > 0n && isInReach(latest) ? await search().catch(undefinedIfRefused) : undefined;
  if (typeof use === 'object') return 'shown';
  return state !== undefined || use === 'unused' ? 'denied' : 'unproved';
}

/** The account's nonce in the state of the node's latest block. */
function nonceInState(read: ReadFromEndpoint, address: string): Promise<bigint> {
  const nonceOf = (answer: Json) =>
    parseQuantity(
      typeof answer === 'object' && answer !== null && !Array.isArray(answer) ? answer['nonce'] : undefined,
    );
  return read('eth_getProof', [address, [], 'latest'], nonceOf, { bestEffort: true });
}
