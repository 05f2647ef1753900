import type { ReadOne, RpcClient } from '../../egress/rpc/rpc-client.ts';
import { answersInTime, middleOf } from '../quorum.ts';
import { onlyOn, transactionCount } from './provider.ts';

/** As many uses of a key by others between two questions are credible; a count further on needs more than one word. */
const FOREIGN_USES = 64n;

/** Whose next nonce is asked for, and how far it should be. */
export interface NonceQuestion {
  chain: bigint;
  address: string;
  /** Undefined takes one node's word, null that of most. */
  least: bigint | null | undefined;
}

/**
 * The next nonce of an account, by one node that serves the chain. All nodes are asked where its answer is lower than
 * expected or far beyond, or where nothing is known of the account. Of two answers the higher counts, for the other
 * node is behind; but where the higher one is far beyond what is known, the lower counts.
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

/** Pools are asked on nodes that keep none, and some answer `pending` with less than `latest`: so the higher one counts. */
async function nonceBy(read: ReadOne, address: string): Promise<bigint> {
  const [pending, latest] = await Promise.all([
    transactionCount(read, address, 'pending'),
    transactionCount(read, address, 'latest'),
  ]);
  return pending > latest ? pending : latest;
}
