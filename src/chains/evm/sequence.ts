import type { ReadOne, RpcClient } from '../../egress/rpc/rpc-client.ts';
import { answersInTime, middleOf } from '../quorum.ts';
import { onlyOn, transactionCount } from './provider.ts';

/**
 * How many uses of the key by others are credible between two questions. A count beyond that needs more than one node's
 * word.
 */
const FOREIGN_USES = 64n;

/** The account whose next nonce is asked for, and the nonce to expect at least. */
export interface NonceQuestion {
  chain: bigint;
  address: string;
  /** Undefined: one node's word is enough. Null: nothing is known of the account, and all nodes are asked. */
  least: bigint | null | undefined;
}

/**
 * The next nonce of an account, from one node that serves the chain. All nodes are asked if the answer is lower than
 * expected or far too high, or if nothing is known of the account. Of two answers the higher counts, because the other
 * node is behind. If the higher one is far beyond what is known, the lower one counts.
 */
export async function nextNonceOn(rpc: RpcClient, { chain, address, least }: NonceQuestion): Promise<bigint> {
  const own = onlyOn(chain, rpc);
  const told = await nextNonce(own, address);
  if (rpc.endpointCount < 2 || least === undefined) return told;
  const isFar = (count: bigint) => least !== null && count > least + FOREIGN_USES;
  if (least !== null && told >= least && !isFar(told)) return told;
  const all = await answersInTime(own.onAll((read) => nonceBy(read, address)));
  const count = middleOf(all, 'higher') ?? told;
  return isFar(count) ? (middleOf(all, 'lower') ?? told) : count;
}

/** The next nonce of an account by one node's view: what is in blocks or in its pool. */
export function nextNonce(rpc: RpcClient, address: string): Promise<bigint> {
  return rpc.onOne((read) => nonceBy(read, address));
}

/**
 * Asks for both counts and takes the higher. Some nodes keep no pool, and some answer `pending` with less than
 * `latest`.
 */
async function nonceBy(read: ReadOne, address: string): Promise<bigint> {
  const [pending, latest] = await Promise.all([
    transactionCount(read, address, 'pending'),
    transactionCount(read, address, 'latest'),
  ]);
  return pending > latest ? pending : latest;
}
