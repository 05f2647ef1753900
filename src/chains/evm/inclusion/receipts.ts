import { isNodeError, type ReadFromEndpoint, RpcError } from '../../../egress/rpc/rpc-client.ts';
import { isRpcDenial } from '../../../egress/rpc/rpc-verdict.ts';
import { blockReceipts, getReceipt, type Receipt } from '../rpc-calls.ts';
import { rpcDialect } from '../rpc-error-dialect.ts';

/** With this many transactions in one block, the block's whole list of receipts is cheaper than one call for each. */
const WORTH_A_BLOCK = 4;
const CALLS_AT_ONCE = 16;

/** One transaction whose receipt is looked for. */
export interface ReceiptQuery {
  /** In lower case, as are the hashes. */
  account: string;
  /** The hashes of all its attempts, the latest first. */
  hashes: readonly string[];
  /** The block in which the transaction was seen before. */
  seenIn: bigint | undefined;
}

/**
 * The receipts of the transactions that have one, whichever attempt it is of.
 * @param orNone turns the failure of reading one receipt into none, or throws it
 */
export async function receiptsOf<T extends ReceiptQuery>(
  read: ReadFromEndpoint,
  queries: readonly T[],
  orNone: (error: unknown) => null = nullIfPruned,
): Promise<Map<T, Receipt>> {
  const found = new Map<T, Receipt>();
  let left = [...queries];
  const readBlocks = new Set<bigint>();

  while (left.length >= WORTH_A_BLOCK) {
    const block = await nextBlock(read, left, found, readBlocks, orNone);
    if (block === undefined) break;
    readBlocks.add(block);
    const hashes = new Set(left.flatMap((one) => one.hashes));
    const receipts = await blockReceipts(read, block, hashes).catch(undefinedIfRefused);
    if (receipts === undefined) break;
    const byHash = new Map(receipts.map((receipt) => [receipt.transactionHash, receipt]));
    for (const one of left)
      addReceipt(
        found,
        one,
        one.hashes.map((hash) => byHash.get(hash)).find((known) => known),
      );
    left = left.filter((one) => !found.has(one));
  }

  await mapLimited(
    left.filter((one) => !found.has(one)),
    async (one) => {
      for (const hash of one.hashes) {
        if (addReceipt(found, one, await getReceipt(read, hash).catch(orNone))) return;
      }
    },
  );
  return found;
}

/**
 * A block that holds some of the transactions: one where a transaction was seen before, or that of the first receipt
 * found.
 */
async function nextBlock<T extends ReceiptQuery>(
  read: ReadFromEndpoint,
  left: readonly T[],
  found: Map<T, Receipt>,
  readBlocks: ReadonlySet<bigint>,
  orNone: (error: unknown) => null,
): Promise<bigint | undefined> {
  const seen = left.map(({ seenIn }) => seenIn).find((block) => block !== undefined && !readBlocks.has(block));
  if (seen !== undefined) return seen;
  for (const one of left) {
    if (found.has(one)) continue;
    for (const hash of one.hashes) {
      const receipt = await getReceipt(read, hash).catch(orNone);
      // A list that lacks a receipt of its own block is not asked for twice.
      if (addReceipt(found, one, receipt) && receipt !== null && !readBlocks.has(receipt.blockNumber)) {
        return receipt.blockNumber;
      }
    }
    // This one shows no receipt although its nonce is used. Its receipt is asked for by itself later.
    if (!found.has(one)) return undefined;
  }
  return undefined;
}

function addReceipt<T extends ReceiptQuery>(
  found: Map<T, Receipt>,
  one: T,
  receipt: Receipt | null | undefined,
): boolean {
  if (!isReceiptOf(one, receipt)) return false;
  found.set(one, receipt);
  return true;
}

/** A receipt that is not of this very transaction is a lie or a mix-up, and counts as none. */
export function isReceiptOf(one: ReceiptQuery, receipt: Receipt | null | undefined): receipt is Receipt {
  return receipt != null && one.hashes.includes(receipt.transactionHash) && receipt.from === one.account;
}

/** Treats a pruned receipt as a missing one, so that it does not keep the others from being read. */
function nullIfPruned(error: unknown): null {
  if (isRpcDenial(error, rpcDialect)) return null;
  throw error;
}

/** Whether an endpoint answered with something that cannot be read. */
export function isMalformedAnswer(error: unknown): boolean {
  return error instanceof RpcError && error.kind === 'malformed';
}

/** Treats a receipt that a node refuses, or that cannot be read, as a missing one. */
export function nullIfUnreadable(error: unknown): null {
  if (isMalformedAnswer(error) || isNodeError(error)) return null;
  throw error;
}

/**
 * Turns an error of the node into undefined. `eth_getBlockReceipts` is young (geth 1.13): without it, each receipt is
 * asked for.
 */
export function undefinedIfRefused(error: unknown): undefined {
  if (isNodeError(error)) return undefined;
  throw error;
}

/** Runs something for each item, a limited number at a time. */
export async function mapLimited<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += CALLS_AT_ONCE) {
    results.push(...(await Promise.all(items.slice(start, start + CALLS_AT_ONCE).map(run))));
  }
  return results;
}
