import type { ReadOne, RpcClient } from '../../../egress/rpc/rpc-client.ts';
import { answersInTime, isCorroborated, type Opinion } from '../../quorum.ts';
import { blockNumber, type Receipt, type ShownBlock, shownBlock } from '../provider.ts';
import { type ReceiptQuery, receiptsOf, undefinedIfRefused } from './receipts.ts';

/** One node's receipt of a transaction, at final depth. */
export interface Claim {
  account: string;
  receipt: Receipt;
}

interface ClaimQuery extends Claim, ReceiptQuery {}

/**
 * Finds which of one node's claims may be called final, by what the other endpoints show. With one endpoint only, it
 * asks nothing.
 * @returns the keys of the claims that hold
 */
export async function corroboratedClaims<K>(
  rpc: RpcClient,
  read: ReadOne,
  claims: ReadonlyMap<K, Claim>,
  confirmations: bigint,
): Promise<Set<K>> {
  if (claims.size === 0 || rpc.endpointCount < 2) return new Set(claims.keys());
  const queries = new Map([...claims].map(([key, claim]) => [key, queryOf(claim)]));
  const all = [...queries.values()];
  // A slow endpoint does not hold up claims that another endpoint has shown.
  const shown = new Set<ClaimQuery>();
  const isEnough = (opinions: ReadonlyMap<ClaimQuery, Opinion>) => {
    for (const claim of all) if (opinions.get(claim) === 'same') shown.add(claim);
    return shown.size === all.length;
  };
  const others = rpc.onOthers(read, (other) => opinionsOf(other, all, confirmations));
  const answers = await answersInTime(others, { isEnough });
  const holds = (claim: ClaimQuery) => isCorroborated(answers.map((opinions) => opinions.get(claim) ?? 'none'));
  return new Set([...queries].filter(([, claim]) => holds(claim)).map(([key]) => key));
}

function queryOf({ account, receipt }: Claim): ClaimQuery {
  return { account, receipt, hashes: [receipt.transactionHash], seenIn: receipt.blockNumber };
}

async function opinionsOf(
  read: ReadOne,
  claims: readonly ClaimQuery[],
  confirmations: bigint,
): Promise<Map<ClaimQuery, Opinion>> {
  const receipts = await receiptsOf(read, claims);
  const isSame = (claim: ClaimQuery) => {
    const shown = receipts.get(claim);
    return shown?.blockHash === claim.receipt.blockHash && shown.succeeded === claim.receipt.succeeded;
  };
  const opinions = new Map<ClaimQuery, Opinion>();
  const blocks = new Map<bigint, Promise<ShownBlock | null | undefined>>();
  let head: Promise<bigint> | undefined;
  for (const claim of claims) {
    if (isSame(claim)) {
      opinions.set(claim, 'same');
      continue;
    }
    const { blockNumber: number } = claim.receipt;
    const block = blocks.get(number) ?? shownBlock(read, number).catch(undefinedIfRefused);
    blocks.set(number, block);
    head ??= blockNumber(read);
    opinions.set(claim, opinionOf(claim, receipts.get(claim), await block, (await head) >= number + confirmations));
  }
  return opinions;
}

/** A block's list of transactions says more than a missing receipt: some nodes can look up a receipt only later. */
function opinionOf(
  { receipt }: Claim,
  shown: Receipt | undefined,
  block: ShownBlock | null | undefined,
  isDeep: boolean,
): Opinion {
  if (block == null) return 'none';
  // The endpoint has another block of that height. Near its tip, it may still change to ours.
  if (block.hash !== receipt.blockHash) return isDeep ? 'other' : 'none';
  if (shown?.blockHash === receipt.blockHash) return 'other';
  return block.transactions === undefined || block.transactions.has(receipt.transactionHash) ? 'none' : 'other';
}
