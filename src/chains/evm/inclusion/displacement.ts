import { withTimeout } from '../../../domain/with-timeout.ts';
import { type ReadFromEndpoint, type RpcClient, RpcError } from '../../../egress/rpc/rpc-client.ts';
import { answersInTime, type EndpointOpinion, proofByOpinions } from '../../quorum.ts';
import { blockNumber, blockReceipts, getFullBlock, getReceipt, type Receipt, transactionCount } from '../rpc-calls.ts';
import type { BlockBodySearch, SearchedNonce } from './body-search.ts';
import { findNonceUse, type NonceUse, nonceUseInBlock, transactionCountsOn } from './nonce-use.ts';
import { isReceiptOf, mapLimited, nullIfUnreadable, undefinedIfRefused } from './receipts.ts';

/** A transaction whose nonce is used, though the node shows no receipt of it. */
export interface LostTransaction extends SearchedNonce {
  seenIn: bigint | undefined;
}

/** What became of a lost transaction. */
export type NonceFinding =
  /** The transaction is in a block after all. */
  | { kind: 'receipt'; receipt: Receipt }
  /** Something else used its nonce, so that none of its attempts can be in a block any more. */
  | { kind: 'displaced'; reason: string }
  /** The nonce is used, but nothing proves what used it, or whether that succeeded. */
  | { kind: 'unproved'; reason: string }
  /** On the node's chain, the nonce is not used at final depth. */
  | { kind: 'open' };

/** What the search works with. */
export interface NonceTraceContext {
  rpc: RpcClient;
  read: ReadFromEndpoint;
  confirmations: bigint;
  /** The highest block that is final on the node of `read`. */
  finalBlock: bigint;
  search: BlockBodySearch;
}

/** How long a lane's look is held up by transactions that no endpoint can tell about. */
const PATIENCE_MS = 6_000;
/** How long other endpoints have for one question. */
const OTHERS = { withinMs: 2_000 };

/**
 * Finds out what used the nonces of transactions that show no receipt. Missing data proves nothing: nodes prune
 * receipts, states and transactions, and answer null or an error. Only the content of a block at final depth is proof.
 * If there are several endpoints, a second one must show the same. Never throws for what endpoints do.
 */
export async function traceNonceUses<T extends LostTransaction>(
  tracing: NonceTraceContext,
  lost: readonly T[],
): Promise<Map<T, NonceFinding>> {
  const findings = new Map<T, NonceFinding>(
    lost.map((one) => [one, unproved(one, 'No endpoint has shown in time which transaction used it.')]),
  );
  if (lost.length === 0) return findings;
  await withTimeout(PATIENCE_MS, follow(tracing, lost, findings));
  return new Map(findings);
}

async function follow<T extends LostTransaction>(
  tracing: NonceTraceContext,
  lost: readonly T[],
  findings: Map<T, NonceFinding>,
): Promise<void> {
  const { rpc, read, finalBlock, search } = tracing;
  const uses = await usesOn(read, lost, finalBlock);
  const isOpen = (one: T) => uses.get(one) === undefined;
  if (lost.some(isOpen)) {
    // Another node may keep what this one has pruned.
    const left = lost.filter(isOpen);
    const others = rpc.onOthers(read, async (other) => {
      const reason = await usesOn(other, left, finalBlock);
      for (const [one, use] of reason) if (use !== 'unused' && isOpen(one)) uses.set(one, use);
    });
    await answersInTime(others, OTHERS);
  }
  for (const group of byAccount(lost.filter(isOpen))) {
    const searched = await search.readOn(read, group, finalBlock).catch(noAnswer);
    for (const one of group) {
      const use = searched?.get(one);
      if (use !== undefined) uses.set(one, use);
      else findings.set(one, unproved(one, unprovedReason(searched !== undefined)));
    }
  }
  await mapLimited([...uses], async ([one, use]) => {
    findings.set(one, await judge(tracing, one, use).catch(orUnproved(one)));
  });
}

function unprovedReason(hasBlocks: boolean): string {
  const lack = 'No endpoint has the receipts or states that show which transaction used it';
  return hasBlocks ? `${lack}; the blocks are looked through for it. ${ADVICE}` : `${lack}, nor the blocks. ${ADVICE}`;
}

const ADVICE = 'Add an endpoint that keeps its history.';

function unproved({ sequence }: LostTransaction, reason: string): NonceFinding {
  return { kind: 'unproved', reason: `Nonce ${sequence} is used. ${reason}` };
}

function orUnproved(one: LostTransaction): (error: unknown) => NonceFinding {
  return (error) => {
    if (error instanceof RpcError)
      return unproved(one, 'An endpoint that was asked for that transaction has not answered.');
    throw error;
  };
}

type Uses<T> = Map<T, NonceUse | 'unused'>;

async function usesOn<T extends LostTransaction>(
  read: ReadFromEndpoint,
  lost: readonly T[],
  finalBlock: bigint,
): Promise<Uses<T>> {
  const countAt = transactionCountsOn(read);
  const uses: Uses<T> = new Map();
  await mapLimited(lost, async (one) => {
    const use = await findNonceUse(read, one, finalBlock, countAt).catch(noAnswer);
    if (use !== undefined) uses.set(one, use);
  });
  return uses;
}

function noAnswer(error: unknown): undefined {
  if (!(error instanceof RpcError)) throw error;
  return undefined;
}

async function judge(
  tracing: NonceTraceContext,
  one: LostTransaction,
  use: NonceUse | 'unused',
): Promise<NonceFinding> {
  if (use === 'unused') return { kind: 'open' };
  if (use.isOurs) {
    const receipt = await receiptIn(tracing, one, use);
    if (receipt !== undefined) return { kind: 'receipt', receipt };
    return unproved(
      one,
      `${use.text} No endpoint has a receipt that can be read and tells whether it succeeded. ${ADVICE}`,
    );
  }
  const proof = await proofAmongAll(tracing, one, use);
  if (proof === 'denied') return unproved(one, `${use.text} Another endpoint contradicts that.`);
  if (proof === 'unproved') return unproved(one, `${use.text} One endpoint says so, and no second one shows it yet.`);
  const count = await transactionCount(tracing.read, one.account, 'latest');
  const summary = `Nonce ${one.sequence} consumed externally (on-chain nonce: ${count})`;
  return { kind: 'displaced', reason: `${summary}. No matching transaction hash found on-chain. ${use.text}` };
}

/** Looks in the block's list of receipts first: a node that has the list may not find a receipt by its hash. */
async function receiptIn(
  { rpc, read }: NonceTraceContext,
  one: LostTransaction,
  { block, hash }: NonceUse,
): Promise<Receipt | undefined> {
  const receiptOn = async (node: ReadFromEndpoint): Promise<Receipt | undefined> => {
    const [listed] = (await blockReceipts(node, block, new Set([hash ?? ''])).catch(undefinedIfRefused)) ?? [];
    const receipt = listed ?? (await getReceipt(node, hash ?? '').catch(nullIfUnreadable));
    return isReceiptOf(one, receipt) ? receipt : undefined;
  };
  const here = await receiptOn(read);
  if (here !== undefined) return here;
  return (await answersInTime(rpc.onOthers(read, receiptOn), OTHERS)).find((receipt) => receipt !== undefined);
}

async function proofAmongAll(
  { rpc, confirmations }: NonceTraceContext,
  one: LostTransaction,
  use: NonceUse,
): Promise<ReturnType<typeof proofByOpinions>> {
  if (rpc.endpointCount < 2) return 'shown';
  const asked = rpc.onAll((read) => opinionOn(read, one, use, confirmations));
  return proofByOpinions(await answersInTime(asked, OTHERS));
}

async function opinionOn(
  read: ReadFromEndpoint,
  one: LostTransaction,
  use: NonceUse,
  confirmations: bigint,
): Promise<EndpointOpinion> {
  const block = await getFullBlock(read, use.block).catch(undefinedIfRefused);
  if (block == null) return 'none';
  // The node has another block of that height. Near its tip, it may still change to ours.
  if (block.hash !== use.blockHash) return (await blockNumber(read)) >= use.block + confirmations ? 'other' : 'none';
  if ((await transactionCount(read, one.account, 'latest')) <= one.sequence) return 'other';
  for (const hash of one.hashes) {
    if (isReceiptOf(one, await getReceipt(read, hash).catch(undefinedIfRefused))) return 'other';
  }
  return (nonceUseInBlock(block, use.block, one)?.hash ?? null) === use.hash ? 'same' : 'other';
}

function byAccount<T extends LostTransaction>(lost: readonly T[]): T[][] {
  const accounts = Map.groupBy(lost, ({ account }) => account);
  return [...accounts.values()];
}
