import { jsonAmount } from '../../domain/amount.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import { EndpointUnfit, type ReadOne, type RpcClient } from '../../egress/rpc-client.ts';
import type { Observation, ObservedEntry } from '../chain.ts';
import { normalAddress } from './address.ts';
import { type HeadFloor, NO_FLOOR } from './head-floor.ts';
import {
  blockNumber,
  quantity,
  type Receipt,
  type ShownBlock,
  shownBlock,
  toReceipt,
  transactionCount,
} from './provider.ts';
import { isReceiptOf, mapLimited, receiptsOf, type Sought, unsupported } from './receipts.ts';
import { REVERTED, type Revert, revertReason } from './revert.ts';
import { type EvmFields, readFields } from './schema.ts';
import { type Claim, shownElsewhere } from './second-opinion.ts';
import { whoUsedNonce } from './sequence.ts';

const WAITING: Observation = { kind: 'waiting' };

/** Farther below the floor a node is not a little behind: then the floor itself is in doubt. */
const NO_MERE_LAG = 1_000n;

/** More reverts than so are told without their cause, in one look. */
const REVERTS_AT_ONCE = 32;

/** One transaction that is looked for. */
interface Wanted extends Sought {
  entry: ObservedEntry;
  sequence: bigint;
  /** As it was last seen in a block, for as long as it counts as being there. */
  seen: EvmFields['receipt'] | undefined;
}

/** What is looked for, and how. */
interface Look {
  rpc: RpcClient;
  wanted: readonly Wanted[];
  confirmations: bigint;
  /** The highest block in which a node has shown something lately. */
  floor: bigint;
  /** No node has reached the block in which another showed something: none can deny what was seen. */
  isLate: boolean;
}

/**
 * What one node's chain shows of each transaction. The account's transaction count tells which nonces are in blocks at
 * all, so that those that are not cost nothing; only of the others receipts are read, by block where many share one.
 * A node below `floor` is passed over while another is above it.
 */
export async function observe(
  rpc: RpcClient,
  entries: readonly ObservedEntry[],
  confirmations: bigint,
  floor: HeadFloor = NO_FLOOR,
): Promise<Observation[]> {
  const look: Look = { rpc, wanted: entries.map(asWanted), confirmations, floor: floor.height(), isLate: false };
  const least = look.floor;
  let someLag = false;
  const lookAbove = (read: ReadOne) =>
    lookOn(read, look, (head) => {
      // Without a floor there is nothing to judge the height by.
      if (head >= least && least >= 0n) rpc.caughtUp(read);
      if (head >= least || head < least - NO_MERE_LAG) return;
      someLag = true;
      throw new EndpointUnfit(`its head is block ${head}, and block ${least} was seen`, { pauseMs: 0 });
    });
  const observations = await rpc.onOne(lookAbove).catch((error: unknown) => {
    if (!someLag) throw error;
    return rpc.onOne((read) => lookOn(read, { ...look, isLate: true }, () => {}));
  });
  for (const one of observations) {
    if (one.kind === 'included') floor.raise(BigInt(readFields(one.fields)?.receipt?.block_number ?? -1));
  }
  return observations;
}

function asWanted(entry: ObservedEntry): Wanted {
  const { transaction, attempts } = entry;
  const fields = readFields(transaction.fields);
  const { receipt } = fields ?? {};
  return {
    entry,
    account: normalAddress(fields?.from ?? ''),
    sequence: transaction.sequence ?? -1n,
    hashes: attempts.map(({ hash }) => hash.toLowerCase()).reverse(),
    seenIn: receipt === undefined ? undefined : BigInt(receipt.block_number),
    // What a reorganisation took back leaves its receipt behind.
    seen: transaction.status === 'mined' ? receipt : undefined,
  };
}

async function lookOn(read: ReadOne, look: Look, checkHead: (head: bigint) => void): Promise<Observation[]> {
  const { wanted, confirmations } = look;
  const head = await blockNumber(read);
  checkHead(head);
  const counts = await countsOf(read, wanted);
  const isUsed = (one: Wanted) => one.hashes.length > 0 && one.sequence < (counts.get(one.account) ?? 0n);
  const receipts = await receiptsOf(read, wanted.filter(isUsed));
  const isDeep = (one: Wanted) => {
    const { blockNumber: block = 0n } = receipts.get(one) ?? {};
    return isUsed(one) && head >= block + confirmations;
  };
  const blockAt = blocksOn(read);
  // What is called final stays so, and that hangs on the height, and on the block being part of this very chain.
  const isHigh = wanted.some(isDeep) && (await blockAt(head)) !== null;
  const isInChain = async (one: Wanted, receipt: Receipt) =>
    isHigh && isDeep(one) && holds(await blockAt(receipt.blockNumber), receipt.blockHash, [receipt.transactionHash]);
  const deep = await filterLimited([...receipts], ([one, receipt]) => isInChain(one, receipt));
  const finals = await shownElsewhere(
    look.rpc,
    read,
    new Map(deep.map(([one, receipt]) => [one, asClaim(one, receipt)])),
    confirmations,
  );
  const explained = await explain(read, receipts);

  return mapLimited(wanted, async (one) => {
    const receipt = receipts.get(one);
    if (receipt !== undefined) return included(one, receipt, finals.has(one), explained.get(one));
    if (await stillHolds(look, one, head, blockAt)) return asSeen(one);
    if (!isUsed(one) || !isHigh || look.isLate || head < look.floor) return WAITING;
    const reason = await whoUsedNonce(read, one, head - confirmations);
    return reason === undefined || (await isDeniedBySome(look.rpc, one)) ? WAITING : { kind: 'displaced', reason };
  });
}

function asClaim({ account }: Wanted, receipt: Receipt): Claim {
  return { account, receipt };
}

async function filterLimited<T>(items: readonly T[], isWanted: (item: T) => Promise<boolean>): Promise<T[]> {
  const wanted = await mapLimited(items, isWanted);
  return items.filter((_item, index) => wanted[index] === true);
}

async function countsOf(read: ReadOne, wanted: readonly Wanted[]): Promise<Map<string, bigint>> {
  const signed = wanted.filter(({ hashes }) => hashes.length > 0);
  const accounts = [...new Set(signed.map(({ account }) => account))];
  const counts = await Promise.all(accounts.map((account) => transactionCount(read, account, 'latest')));
  return new Map(accounts.map((account, index) => [account, counts[index] ?? 0n]));
}

type BlockAt = (block: bigint) => Promise<ShownBlock | null | undefined>;

/** The node's blocks, each asked for once. */
function blocksOn(read: ReadOne): BlockAt {
  const known = new Map<bigint, Promise<ShownBlock | null | undefined>>();
  return (block) => {
    const shown = known.get(block) ?? shownBlock(read, block).catch(unsupported);
    known.set(block, shown);
    return shown;
  };
}

/** Whether it is the very block, and lists one of the transactions if it lists any. */
function holds(block: ShownBlock | null | undefined, hash: string, transactions: readonly string[]): boolean {
  if (block?.hash !== hash) return false;
  const { transactions: listed } = block;
  return listed === undefined || transactions.some((one) => listed.has(one));
}

/**
 * Whether what was seen before holds although this node shows no receipt: it has the very block with the transaction in
 * it, or has not come that far while another has.
 */
async function stillHolds(
  { rpc, isLate }: Look,
  { seen, hashes }: Wanted,
  head: bigint,
  blockAt: BlockAt,
): Promise<boolean> {
  if (seen === undefined) return false;
  const block = BigInt(seen.block_number);
  if (head >= block) return holds(await blockAt(block), seen.block_hash, hashes);
  if (isLate) return true;
  const heads = await rpc.each('eth_blockNumber', []);
  return heads.some((answer) => answer.status === 'fulfilled' && isAtLeast(answer.value, block));
}

function isAtLeast(answer: Json, block: bigint): boolean {
  try {
    return quantity(answer) >= block;
  } catch {
    return false;
  }
}

/**
 * Whether any endpoint's chain has room for one of the attempts, or shows one in a block: then no proof of one node
 * makes it lost. Nodes can be on other branches of one chain, and what one says for sure holds on its own.
 */
async function isDeniedBySome(rpc: RpcClient, one: Wanted): Promise<boolean> {
  const counts = await rpc.each('eth_getTransactionCount', [one.account, 'latest']);
  if (counts.some((count) => count.status === 'fulfilled' && !isAtLeast(count.value, one.sequence + 1n))) return true;
  for (const hash of one.hashes) {
    const answers = await rpc.each('eth_getTransactionReceipt', [hash]);
    if (answers.some((answer) => answer.status === 'fulfilled' && isItsReceipt(one, answer.value))) return true;
  }
  return false;
}

function isItsReceipt(one: Wanted, answer: Json): boolean {
  try {
    return isReceiptOf(one, toReceipt(answer));
  } catch {
    return false;
  }
}

/** Why each failed one did, asked once for each block that shows it failed. */
async function explain(read: ReadOne, receipts: ReadonlyMap<Wanted, Receipt>): Promise<Map<Wanted, Revert>> {
  const news = [...receipts].filter(([one, receipt]) => receipt.succeeded === false && !knownRevert(one, receipt));
  const asked = news.filter(([one, receipt]) => isCauseAsked(one, requestOf(one, receipt)));
  const reverts = await Promise.all(
    asked.slice(0, REVERTS_AT_ONCE).map(async ([one, receipt]) => {
      const request = requestOf(one, receipt);
      const failed = { request, fields: fieldsOf(one, receipt), hash: receipt.transactionHash };
      return [one, await revertReason(read, { ...failed, block: receipt.blockNumber })] as const;
    }),
  );
  return new Map(reverts);
}

/** By the policy, or by a request that says what the contract's errors are. */
function isCauseAsked({ entry }: Wanted, request: JsonObject): boolean {
  return entry.account.policies['include_revert_data'] === true || request['abi'] !== undefined;
}

/** What the version in the block asks for. */
function requestOf(one: Wanted, receipt: Receipt): JsonObject {
  return attemptOf(one, receipt)?.request ?? one.entry.transaction.request;
}

function knownRevert({ entry }: Wanted, { blockHash }: Receipt): Revert | undefined {
  const { block_hash, revert_reason: reason, revert_data: data } = readFields(entry.transaction.fields)?.receipt ?? {};
  return block_hash === blockHash && reason !== undefined ? { reason, data: data ?? null } : undefined;
}

function attemptOf({ entry }: Wanted, { transactionHash }: Receipt): ObservedEntry['attempts'][number] | undefined {
  return entry.attempts.find(({ hash }) => hash.toLowerCase() === transactionHash);
}

/** What the chain decided for the version that is in the block. */
function fieldsOf(one: Wanted, receipt: Receipt): EvmFields | undefined {
  return readFields(attemptOf(one, receipt)?.fields ?? {}) ?? readFields(one.entry.transaction.fields);
}

function included(one: Wanted, receipt: Receipt, final: boolean, explained: Revert | undefined): Observation {
  const fields = fieldsOf(one, receipt);
  const succeeded = receipt.succeeded ?? !usedUp(receipt, fields);
  const revert = succeeded ? undefined : (explained ?? knownRevert(one, receipt));
  const mined: EvmFields['receipt'] = {
    block_number: jsonAmount(receipt.blockNumber),
    block_hash: receipt.blockHash,
    succeeded,
    gas_used: jsonAmount(receipt.gasUsed),
    effective_gas_price: receipt.effectiveGasPrice === null ? null : jsonAmount(receipt.effectiveGasPrice),
    ...(revert === undefined ? {} : { revert_reason: revert.reason }),
    ...(revert === undefined || revert.data === null ? {} : { revert_data: revert.data }),
  };
  return {
    kind: 'included',
    hash: receipt.transactionHash,
    succeeded,
    final,
    reason: succeeded ? null : (revert?.reason ?? REVERTED),
    fields: { ...fields, receipt: mined } as JsonObject,
  };
}

/** Before receipts told (EIP-658), every failure took all the gas; a plain transfer does so as well. */
function usedUp({ gasUsed }: Receipt, fields: EvmFields | undefined): boolean {
  return gasUsed > 21_000n && gasUsed === BigInt(fields?.gas_limit ?? 0);
}

/** As it was seen; a node that is behind can neither confirm nor deny it. */
function asSeen({ entry, seen }: Wanted): Observation {
  const { hash, fields } = entry.transaction;
  if (hash === null || seen === undefined) return WAITING;
  const { succeeded, revert_reason: reason = REVERTED } = seen;
  return { kind: 'included', hash, succeeded, final: false, reason: succeeded ? null : reason, fields };
}
