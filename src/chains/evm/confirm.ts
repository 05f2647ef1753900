import { jsonAmount } from '../../domain/amount.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import { EndpointUnfit, type ReadOne, type RpcClient } from '../../egress/rpc-client.ts';
import type { Observation, ObservedEntry } from '../chain.ts';
import { normalAddress } from './address.ts';
import { type HeadFloor, NO_FLOOR } from './head-floor.ts';
import { blockHash, blockNumber, quantity, type Receipt, toReceipt, transactionCount } from './provider.ts';
import { isReceiptOf, mapLimited, receiptsOf, type Sought, unsupported } from './receipts.ts';
import { REVERTED, type Revert, revertReason } from './revert.ts';
import { type EvmFields, readFields } from './schema.ts';
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
  const look: Look = { rpc, wanted: entries.map(asWanted), confirmations, isLate: false };
  const least = floor.height();
  let someLag = false;
  const lookAbove = (read: ReadOne) =>
    lookOn(read, look, (head) => {
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
  const hashAt = hashesOn(read);
  // What is called final stays so, and that hangs on the height, and on the block being part of this very chain.
  const isHigh = wanted.some(isDeep) && (await hashAt(head)) !== null;
  const isFinal = async (one: Wanted, receipt: Receipt) =>
    isHigh && isDeep(one) && (await hashAt(receipt.blockNumber)) === receipt.blockHash;
  const explained = await explain(read, receipts);

  return mapLimited(wanted, async (one) => {
    const receipt = receipts.get(one);
    if (receipt !== undefined) return included(one, receipt, await isFinal(one, receipt), explained.get(one));
    if (await stillHolds(look, one, head, hashAt)) return asSeen(one);
    if (!isUsed(one) || !isHigh) return WAITING;
    const reason = await whoUsedNonce(read, one, head - confirmations);
    return reason === undefined || (await isShownBySome(look.rpc, one)) ? WAITING : { kind: 'displaced', reason };
  });
}

async function countsOf(read: ReadOne, wanted: readonly Wanted[]): Promise<Map<string, bigint>> {
  const signed = wanted.filter(({ hashes }) => hashes.length > 0);
  const accounts = [...new Set(signed.map(({ account }) => account))];
  const counts = await Promise.all(accounts.map((account) => transactionCount(read, account, 'latest')));
  return new Map(accounts.map((account, index) => [account, counts[index] ?? 0n]));
}

/** The node's block hashes, each asked for once. */
function hashesOn(read: ReadOne): (block: bigint) => Promise<string | null | undefined> {
  const known = new Map<bigint, Promise<string | null | undefined>>();
  return (block) => {
    const hash = known.get(block) ?? blockHash(read, block).catch(unsupported);
    known.set(block, hash);
    return hash;
  };
}

/**
 * Whether what was seen before holds although this node shows no receipt: it has the very block, or has not come that
 * far while another has.
 */
async function stillHolds(
  { rpc, isLate }: Look,
  { seen }: Wanted,
  head: bigint,
  hashAt: ReturnType<typeof hashesOn>,
): Promise<boolean> {
  if (seen === undefined) return false;
  const block = BigInt(seen.block_number);
  if (head >= block) return (await hashAt(block)) === seen.block_hash;
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

/** Whether any endpoint shows one of the attempts in a block: then no proof of one node makes it lost. */
async function isShownBySome(rpc: RpcClient, one: Wanted): Promise<boolean> {
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
