import { jsonAmount } from '../../domain/amount.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import { type ReadOne, type RpcClient, RpcError } from '../../egress/rpc-client.ts';
import type { Observation, ObservedEntry } from '../chain.ts';
import { normalAddress } from './address.ts';
import {
  blockNumber,
  blockReceipts,
  hasBlock,
  quantity,
  type Receipt,
  receiptOf,
  transactionCount,
} from './provider.ts';
import { type EvmFields, readFields } from './schema.ts';
import { whoUsedNonce } from './sequence.ts';

const WAITING: Observation = { kind: 'waiting' };

/** As many transactions in one block make its whole list of receipts cheaper than one call for each. */
const WORTH_A_BLOCK = 4;
const CALLS_AT_ONCE = 16;

/** One transaction that is looked for. */
interface Wanted {
  entry: ObservedEntry;
  account: string;
  sequence: bigint;
  /** Of all its attempts, the latest first. */
  hashes: string[];
  /** Where it was seen before. */
  seenIn: bigint | undefined;
}

/**
 * What one node's chain shows of each transaction. The account's transaction count tells which nonces are in blocks at
 * all, so that those that are not cost nothing; only of the others receipts are read, by block where many share one.
 */
export async function observe(
  rpc: RpcClient,
  entries: readonly ObservedEntry[],
  confirmations: bigint,
): Promise<Observation[]> {
  const wanted = entries.map(asWanted);
  return rpc.onOne(async (read) => {
    const head = await blockNumber(read);
    const counts = await countsOf(read, wanted);
    const isUsed = (one: Wanted) => one.hashes.length > 0 && one.sequence < (counts.get(one.account) ?? 0n);
    const receipts = await receiptsOf(read, wanted.filter(isUsed));
    const isDeep = (one: Wanted) => {
      const { blockNumber: block = 0n } = receipts.get(one) ?? {};
      return isUsed(one) && head >= block + confirmations;
    };
    // What is called final stays so, and that hangs on the height alone.
    const isHigh = wanted.some(isDeep) && (await hasBlock(read, head).catch(unsupported)) === true;

    return mapLimited(wanted, async (one) => {
      const receipt = receipts.get(one);
      if (receipt !== undefined) return included(one, receipt, isHigh && isDeep(one));
      if (isUsed(one)) return isHigh ? displaced(await whoUsedNonce(read, one, head - confirmations)) : WAITING;
      return (await isBehind(rpc, one, head)) ? asSeen(one) : WAITING;
    });
  });
}

function asWanted(entry: ObservedEntry): Wanted {
  const fields = readFields(entry.transaction.fields);
  const { receipt } = fields ?? {};
  return {
    entry,
    account: normalAddress(fields?.from ?? ''),
    sequence: entry.transaction.sequence ?? -1n,
    hashes: entry.attempts.map(({ hash }) => hash.toLowerCase()).reverse(),
    seenIn: receipt === undefined ? undefined : BigInt(receipt.block_number),
  };
}

async function countsOf(read: ReadOne, wanted: readonly Wanted[]): Promise<Map<string, bigint>> {
  const signed = wanted.filter(({ hashes }) => hashes.length > 0);
  const accounts = [...new Set(signed.map(({ account }) => account))];
  const counts = await Promise.all(accounts.map((account) => transactionCount(read, account, 'latest')));
  return new Map(accounts.map((account, index) => [account, counts[index] ?? 0n]));
}

/** The receipts of those that have one, whichever of their attempts it is. */
async function receiptsOf(read: ReadOne, wanted: readonly Wanted[]): Promise<Map<Wanted, Receipt>> {
  const found = new Map<Wanted, Receipt>();
  let left = [...wanted];
  const readBlocks = new Set<bigint>();

  while (left.length >= WORTH_A_BLOCK) {
    const block = await nextBlock(read, left, found, readBlocks);
    if (block === undefined) break;
    readBlocks.add(block);
    const receipts = await blockReceipts(read, block).catch(unsupported);
    if (receipts === undefined) break;
    const byHash = new Map(receipts.map((receipt) => [receipt.transactionHash, receipt]));
    for (const one of left) keep(found, one, one.hashes.map((hash) => byHash.get(hash)).find(isPresent));
    left = left.filter((one) => !found.has(one));
  }

  await mapLimited(
    left.filter((one) => !found.has(one)),
    async (one) => {
      for (const hash of one.hashes) {
        if (keep(found, one, await receiptOf(read, hash))) return;
      }
    },
  );
  return found;
}

/** A block in which some of them are: where one was seen before, or where the first of the others turns up. */
async function nextBlock(
  read: ReadOne,
  left: readonly Wanted[],
  found: Map<Wanted, Receipt>,
  readBlocks: ReadonlySet<bigint>,
): Promise<bigint | undefined> {
  const seen = left.map(({ seenIn }) => seenIn).find((block) => block !== undefined && !readBlocks.has(block));
  if (seen !== undefined) return seen;
  for (const one of left) {
    if (found.has(one)) continue;
    for (const hash of one.hashes) {
      const receipt = await receiptOf(read, hash);
      if (keep(found, one, receipt) && receipt !== null) return receipt.blockNumber;
    }
    // Not in any block although its nonce is used: looked at on its own later.
    return undefined;
  }
  return undefined;
}

/** A receipt that is not of this very transaction is a lie or a mix-up, and counts as none. */
function keep(found: Map<Wanted, Receipt>, one: Wanted, receipt: Receipt | null | undefined): boolean {
  if (receipt == null || !one.hashes.includes(receipt.transactionHash) || receipt.from !== one.account) return false;
  found.set(one, receipt);
  return true;
}

/** A node that answers that it cannot. `eth_getBlockReceipts` is young (geth 1.13): then each receipt is asked for. */
function unsupported(error: unknown): undefined {
  if (error instanceof RpcError && error.kind === 'node') return undefined;
  throw error;
}

function included(one: Wanted, receipt: Receipt, final: boolean): Observation {
  const fields: EvmFields | undefined = readFields(one.entry.transaction.fields);
  const mined = {
    block_number: jsonAmount(receipt.blockNumber),
    block_hash: receipt.blockHash,
    succeeded: receipt.succeeded,
    gas_used: jsonAmount(receipt.gasUsed),
    effective_gas_price: receipt.effectiveGasPrice === null ? null : jsonAmount(receipt.effectiveGasPrice),
  };
  return {
    kind: 'included',
    hash: receipt.transactionHash,
    succeeded: receipt.succeeded,
    final,
    reason: receipt.succeeded ? null : REVERTED,
    fields: { ...fields, receipt: mined } as JsonObject,
  };
}

function displaced(reason: string | undefined): Observation {
  return reason === undefined ? WAITING : { kind: 'displaced', reason };
}

const REVERTED = 'Transaction reverted on-chain (receipt status: failed)';

/** Whether this node has not yet come to the block in which another showed the transaction. */
async function isBehind(rpc: RpcClient, { seenIn }: Wanted, head: bigint): Promise<boolean> {
  if (seenIn === undefined || head >= seenIn) return false;
  const heads = await rpc.each('eth_blockNumber', []);
  return heads.some((answer) => answer.status === 'fulfilled' && isAtLeast(answer.value, seenIn));
}

function isAtLeast(answer: Json, block: bigint): boolean {
  try {
    return quantity(answer) >= block;
  } catch {
    return false;
  }
}

/** As it was seen; a node that is behind can neither confirm nor deny it. */
function asSeen({ entry }: Wanted): Observation {
  const { hash, fields } = entry.transaction;
  const succeeded = readFields(fields)?.receipt?.succeeded ?? true;
  if (hash === null) return WAITING;
  return { kind: 'included', hash, succeeded, final: false, reason: succeeded ? null : REVERTED, fields };
}

function isPresent<T>(value: T | undefined): value is T {
  return value !== undefined;
}

async function mapLimited<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let start = 0; start < items.length; start += CALLS_AT_ONCE) {
    results.push(...(await Promise.all(items.slice(start, start + CALLS_AT_ONCE).map(run))));
  }
  return results;
}
