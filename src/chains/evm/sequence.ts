import type { Timestamp } from '../../domain/transaction.ts';
import type { ReadOne, RpcClient } from '../../egress/rpc-client.ts';
import { FOREIGN_USES, type SequenceAt } from '../chain.ts';
import { onEach, onEachInTime } from './each-endpoint.ts';
import { head, onlyOn, transactionCount } from './provider.ts';

/** Whose next nonce is asked for, and how far it should be. */
export interface NonceQuestion {
  chain: bigint;
  address: string;
  /** Undefined takes one node's word, null that of most. */
  least: bigint | null | undefined;
}

/**
 * The next nonce of an account by the view of a node that serves the chain. Where that is less than expected or far
 * beyond it, or nothing is known of the account, all are asked: one that is stuck or behind must not hold the account
 * up, and one that makes up a count must not lead it away.
 */
export async function nextNonceOn(rpc: RpcClient, { chain, address, least }: NonceQuestion): Promise<bigint> {
  const told = await nextNonce(onlyOn(chain, rpc), address);
  if (rpc.endpointCount < 2 || least === undefined) return told;
  if (least !== null && told >= least && told <= least + FOREIGN_USES) return told;
  const all = await onEachInTime(chain, rpc, (read) => nonceBy(read, address));
  all.sort((one, other) => (one < other ? -1 : 1));
  return (least === null ? all[Math.floor(all.length / 2)] : agreedOn(all, least)) ?? told;
}

/**
 * What is far beyond the least needs more than half of the counts, so of two endpoints both. Otherwise, of those that
 * tell enough the lowest counts, as none should be beyond what was ever signed; the highest where none does.
 */
function agreedOn(ascending: readonly bigint[], least: bigint): bigint | undefined {
  const middle = ascending[Math.floor((ascending.length - 1) / 2)];
  if (middle !== undefined && middle > least + FOREIGN_USES) return middle;
  const near = ascending.filter((one) => one <= least + FOREIGN_USES);
  return near.find((one) => one >= least) ?? near.at(-1);
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

/**
 * Whether the chain has lost uses of nonces that were final, as a development chain has that was started anew. A node
 * that is stuck, or catches up, tells the same count, but of a block that is older than what it does not know: so it is
 * asked for the count in its latest block, and when that was made. Any node that counts as much speaks against a loss,
 * however many say otherwise, for what is signed below what was final could pay again; nor is there a word for one while
 * an endpoint lets itself be waited for. Silence is none either: more than half of the endpoints must have answered.
 */
export async function hasLost(
  rpc: RpcClient,
  chain: bigint,
  address: string,
  { sequence, at }: SequenceAt,
): Promise<boolean> {
  const told = await onEach(chain, rpc, countAtHead(address));
  const isLess = ({ count }: CountAtHead) => count < sequence;
  return areMost(told.length, rpc.endpointCount) && told.every(isLess) && told.some(({ madeAt }) => madeAt > at);
}

/**
 * Whether an account uses no more than the given nonce next, and did not since that time. More than half of the endpoints
 * must have answered, and more than half of those say so, one of them in a block that was made since: so one that lies
 * proves nothing, and keeps nothing from being proved, unless there are two, of which both must say it. That is enough,
 * because nothing is signed anew that could take effect beside what it is about: that keeps its nonce.
 */
export async function isNoFurther(
  rpc: RpcClient,
  chain: bigint,
  address: string,
  { sequence, at }: SequenceAt,
): Promise<boolean> {
  const told = await onEachInTime(chain, rpc, countAtHead(address));
  const saying = told.filter(({ count }) => count <= sequence);
  const isAgreed = areMost(told.length, rpc.endpointCount) && areMost(saying.length, told.length);
  return isAgreed && saying.some(({ madeAt }) => madeAt > at);
}

function areMost(some: number, all: number): boolean {
  return some * 2 > all;
}

/** What is in a node's latest block, and when that was made. */
interface CountAtHead {
  count: bigint;
  madeAt: Timestamp;
}

function countAtHead(address: string): (read: ReadOne) => Promise<CountAtHead> {
  return async (read) => {
    const { number, madeAt } = await head(read);
    return { count: await transactionCount(read, address, number), madeAt };
  };
}
