import type { ReadFromEndpoint, RpcClient } from '../../../egress/rpc/rpc-client.ts';
import { answersInTime, type EndpointOpinion, isCorroborated } from '../../quorum.ts';
import { type BlockHashes, blockNumber, getBlock, type Receipt } from '../rpc-calls.ts';
import { type ReceiptQuery, receiptsOf, undefinedIfRefused } from './receipts.ts';

/** One node's receipt of a transaction, at final depth. */
export interface InclusionClaim {
  account: string;
  receipt: Receipt;
}

interface ClaimQuery extends InclusionClaim, ReceiptQuery {}

/**
 * Finds which of one node's claims may be called final, by what the other endpoints show. With one endpoint only, it
 * asks nothing.
 * @returns the keys of the claims that hold
 */
export async function corroboratedClaims<K>(
  rpc: RpcClient,
  read: ReadFromEndpoint,
  claims: ReadonlyMap<K, InclusionClaim>,
  confirmations: bigint,
): Promise<Set<K>> {
  if (claims.size === 0 || rpc.endpointCount < 2) return new Set(claims.keys());
  const queries = new Map([...claims].map(([key, claim]) => [key, queryOf(claim)]));
  const all = [...queries.values()];
  // A slow endpoint does not hold up claims that another endpoint has shown.
  const shown = new Set<ClaimQuery>();
  const isEnough = (opinions: ReadonlyMap<ClaimQuery, EndpointOpinion>) => {
    for (const claim of all) if (opinions.get(claim) === 'same') shown.add(claim);
    return shown.size === all.length;
  };
  const others = rpc.onOthers(read, (other) => opinionsOf(other, all, confirmations));
  const answers = await answersInTime(others, { isEnough });
  const holds = (claim: ClaimQuery) => isCorroborated(answers.map((opinions) => opinions.get(claim) ?? 'none'));
  return new Set([...queries].filter(([, claim]) => holds(claim)).map(([key]) => key));
}

function queryOf({ account, receipt }: InclusionClaim): ClaimQuery {
  return { account, receipt, hashes: [receipt.transactionHash], seenIn: receipt.blockNumber };
}

async function opinionsOf(
  read: ReadFromEndpoint,
  claims: readonly ClaimQuery[],
  confirmations: bigint,
): Promise<Map<ClaimQuery, EndpointOpinion>> {
  const receipts = await receiptsOf(read, claims);
  const isSame = (claim: ClaimQuery) => {
    const shown = receipts.get(claim);
    return shown?.blockHash === claim.receipt.blockHash && shown.succeeded === claim.receipt.succeeded;
  };
  const opinions = new Map<ClaimQuery, EndpointOpinion>();
  const blocks = new Map<bigint, Promise<BlockHashes | null | undefined>>();
  let head: Promise<bigint> | undefined;
  for (const claim of claims) {
    if (isSame(claim)) {
      opinions.set(claim, 'same');
      continue;
    }
    const { blockNumber: number } = claim.receipt;
    const block = blocks.get(number) ?? getBlock(read, number).catch(undefinedIfRefused);
    blocks.set(number, block);
    head ??= blockNumber(read);
    opinions.set(claim, opinionOf(claim, receipts.get(claim), await block, (await head) >= number + confirmations));
  }
  return opinions;
}

/** A block's list of transactions says more than a missing receipt: some nodes can look up a receipt only later. */
function opinionOf(
  { receipt }: InclusionClaim,
  shown: Receipt | undefined,
  block: BlockHashes | null | undefined,
  isDeep: boolean,
): EndpointOpinion {
  if (block == null) return 'none';
  // The endpoint has another block of that height. Near its tip, it may still change to ours.
  if (block.hash !== receipt.blockHash) return isDeep ? 'other' : 'none';
  if (shown?.blockHash === receipt.blockHash) return 'other';
  return block.transactions === undefined || block.transactions.has(receipt.transactionHash) ? 'none' : 'other';
}
