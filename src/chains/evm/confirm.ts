import { amountOf, jsonAmount } from '../../domain/amount.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Json, JsonObject } from '../../domain/json/json.ts';
import { EndpointUnfit, isNodeError, type ReadFromEndpoint, type RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { ObservedTransaction, TransactionObservation } from '../chain-client.ts';
import { normalAddress } from './address.ts';
import { readPolicy } from './configuration/policy.ts';
import { type BlockBodySearch, createBlockBodySearch } from './inclusion/body-search.ts';
import { corroboratedClaims, type InclusionClaim } from './inclusion/corroboration.ts';
import { type LostTransaction, type NonceFinding, traceNonceUses } from './inclusion/displacement.ts';
import {
  isMalformedAnswer,
  mapLimited,
  nullIfUnreadable,
  receiptsOf,
  undefinedIfRefused,
} from './inclusion/receipts.ts';
import { REVERTED, type Revert, revertReason, usedAllGas } from './inclusion/revert.ts';
import { type BlockHashes, blockNumber, getBlock, parseQuantity, type Receipt, transactionCount } from './rpc-calls.ts';
import { type EvmFields, readChainFields, storedFields } from './schema.ts';

const OPEN: TransactionObservation = { kind: 'open' };

/** How many blocks below the floor still count as lagging a little. Farther below, the floor itself is in doubt. */
const NO_MERE_LAG = 1_000n;

/** The most reverts whose cause is asked for in one look. Further reverts are told without their cause. */
const REVERTS_AT_ONCE = 32;

/** The most receipts whose blocks are asked for before it is known whether the node's height counts. */
const BLOCKS_AHEAD = 16;

/** One transaction that is looked for. */
interface TrackedTransaction extends LostTransaction {
  entry: ObservedTransaction;
  /** The receipt with which it was last seen in a block, while it counts as being there. */
  seen: EvmFields['receipt'] | undefined;
}

/** The transactions that are looked for, and how. */
interface Look {
  rpc: RpcClient;
  tracked: readonly TrackedTransaction[];
  confirmations: bigint;
  /** The highest block in which a node has shown something lately. */
  floor: bigint;
  /** Every node is below the floor, so none can deny what another node has shown. */
  isLate: boolean;
  /** No node shows receipts that can all be read, so one that cannot counts as none. */
  isTolerant?: boolean;
  search: BlockBodySearch;
}

/** The state of one chain that is kept from look to look. */
export interface ObservationMemory {
  floor: HeadFloor;
  search: BlockBodySearch;
}

export function createObservationMemory(clock: Clock): ObservationMemory {
  return { floor: createHeadFloor(clock), search: createBlockBodySearch() };
}

/**
 * Reads from one node's chain what became of each transaction. The account's transaction count tells which nonces are
 * in blocks. Receipts are read for those nonces only, by block where many share one. A node below the floor is passed
 * over while another is above it.
 */
export async function observeTransactions(
  rpc: RpcClient,
  entries: readonly ObservedTransaction[],
  confirmations: bigint,
  { floor, search }: ObservationMemory,
): Promise<TransactionObservation[]> {
  const look: Look = {
    rpc,
    tracked: entries.map(trackedOf),
    confirmations,
    floor: floor.height(),
    isLate: false,
    search,
  };
  const least = look.floor;
  let someLag = false;
  const lookAbove = (isTolerant: boolean) => (read: ReadFromEndpoint) =>
    lookOn(read, { ...look, isTolerant }, (head) => {
      // Without a floor there is nothing to judge the height by.
      if (head >= least && least >= 0n) rpc.caughtUp(read);
      if (head >= least || head < least - NO_MERE_LAG) return;
      someLag = true;
      throw new EndpointUnfit(`its head is block ${head}, and block ${least} was seen`, { pauseMs: 0 });
    });
  const observations = await rpc.onOne(lookAbove(false)).catch((error: unknown) => {
    if (someLag) return rpc.onOne((read) => lookOn(read, { ...look, isLate: true }, () => {}));
    // A receipt that cannot be had or read must not keep the other transactions from being observed.
    if (isMalformedAnswer(error) || isNodeError(error)) return rpc.onOne(lookAbove(true));
    throw error;
  });
  for (const one of observations) {
    if (one.kind === 'included') floor.raise(BigInt(readChainFields(one.fields)?.receipt?.block_number ?? -1));
  }
  return observations;
}

function trackedOf(entry: ObservedTransaction): TrackedTransaction {
  const { transaction, attempts } = entry;
  const fields = readChainFields(transaction.fields);
  const { receipt } = fields ?? {};
  return {
    entry,
    account: normalAddress(fields?.from ?? ''),
    sequence: transaction.sequence ?? -1n,
    hashes: attempts.map(({ hash }) => hash.toLowerCase()).reverse(),
    seenIn: receipt === undefined ? undefined : BigInt(receipt.block_number),
    signedAt: attempts[0]?.createdAt ?? transaction.createdAt,
    // A transaction that a reorganisation took out of its block still has the old receipt.
    seen: transaction.status === 'mined' ? receipt : undefined,
  };
}

async function lookOn(
  read: ReadFromEndpoint,
  look: Look,
  checkHead: (head: bigint) => void,
): Promise<TransactionObservation[]> {
  const { tracked, confirmations } = look;
  const [head, counts] = await Promise.all([blockNumber(read), countsOf(read, tracked)]);
  checkHead(head);
  const isUsed = (one: TrackedTransaction) => one.hashes.length > 0 && one.sequence < (counts.get(one.account) ?? 0n);
  const receipts = await receiptsOf(
    read,
    tracked.filter(isUsed),
    look.isTolerant === true ? nullIfUnreadable : undefined,
  );
  const blockAt = blocksOn(read);
  const standings = await standingsOf(look, head, blockAt, receipts);
  for (const [one, standing] of standings) {
    const receipt = standing === 'in' ? lastSeenReceipt(one) : undefined;
    if (receipt !== undefined) receipts.set(one, receipt);
  }
  // Final cannot be undone. It depends on the height, and on the block being part of this very chain.
  const mayBeDeep = (one: TrackedTransaction) =>
    isUsed(one) && head >= (receipts.get(one)?.blockNumber ?? 0n) + confirmations;
  const deepBlocks = [...receipts].flatMap(([one, { blockNumber }]) => (mayBeDeep(one) ? [blockNumber] : []));
  // Together with the head's. Whether they can be read matters to whoever needs them.
  for (const block of deepBlocks.slice(0, BLOCKS_AHEAD)) blockAt(block).catch(() => undefined);
  const isHigh = tracked.some(mayBeDeep) && (await blockAt(head)) !== null;
  // A node below the floor, or at another height than it says, proves nothing by a receipt that it does not show.
  const isWitness = isHigh && head >= look.floor;
  const isLost = (one: TrackedTransaction) => isUsed(one) && !receipts.has(one) && standings.get(one) !== 'unproved';
  const tracing = { rpc: look.rpc, read, confirmations, finalBlock: head - confirmations, search: look.search };
  const findings = await traceNonceUses(tracing, isWitness ? tracked.filter(isLost) : []);
  for (const [one, finding] of findings) if (finding.kind === 'receipt') receipts.set(one, finding.receipt);

  const isDeep = (one: TrackedTransaction) => receipts.has(one) && mayBeDeep(one);
  const isInChain = async (one: TrackedTransaction, receipt: Receipt) =>
    isHigh && isDeep(one) && holds(await blockAt(receipt.blockNumber), receipt.blockHash, [receipt.transactionHash]);
  const deep = await filterLimited([...receipts], ([one, receipt]) => isInChain(one, receipt));
  const finals = await corroboratedClaims(
    look.rpc,
    read,
    new Map(deep.map(([one, receipt]) => [one, asClaim(one, receipt)])),
    confirmations,
  );
  const explained = await explain(read, receipts);

  return tracked.map((one) => {
    const receipt = receipts.get(one);
    if (receipt !== undefined) return included(one, receipt, finals.has(one), explained.get(one));
    const standing = standings.get(one);
    return standing === 'late' || (standing === 'unproved' && isUsed(one))
      ? lastSeen(one)
      : withoutReceipt(findings.get(one));
  });
}

function withoutReceipt(finding: NonceFinding | undefined): TransactionObservation {
  if (finding?.kind === 'displaced') return { kind: 'dead', anchor: 'used', reason: finding.reason };
  return finding?.kind === 'unproved' ? { kind: 'open', reason: finding.reason } : OPEN;
}

function asClaim({ account }: TrackedTransaction, receipt: Receipt): InclusionClaim {
  return { account, receipt };
}

async function filterLimited<T>(items: readonly T[], isWanted: (item: T) => Promise<boolean>): Promise<T[]> {
  const tracked = await mapLimited(items, isWanted);
  return items.filter((_item, index) => tracked[index] === true);
}

async function countsOf(read: ReadFromEndpoint, tracked: readonly TrackedTransaction[]): Promise<Map<string, bigint>> {
  const signed = tracked.filter(({ hashes }) => hashes.length > 0);
  const accounts = [...new Set(signed.map(({ account }) => account))];
  const counts = await Promise.all(accounts.map((account) => transactionCount(read, account, 'latest')));
  return new Map(accounts.map((account, index) => [account, counts[index] ?? 0n]));
}

type BlockAt = (block: bigint) => Promise<BlockHashes | null | undefined>;

/** Reads the node's blocks, each of them once. */
function blocksOn(read: ReadFromEndpoint): BlockAt {
  const known = new Map<bigint, Promise<BlockHashes | null | undefined>>();
  return (block) => {
    const shown = known.get(block) ?? getBlock(read, block).catch(undefinedIfRefused);
    known.set(block, shown);
    return shown;
  };
}

/** Whether this is the block with that hash, and lists one of the transactions if it lists any. */
function holds(block: BlockHashes | null | undefined, hash: string, transactions: readonly string[]): boolean {
  if (block?.hash !== hash) return false;
  const { transactions: listed } = block;
  return listed === undefined || transactions.some((one) => listed.has(one));
}

/**
 * What a node's blocks say of a transaction that was seen in a block, and whose receipt the node does not show now.
 * `in`: the node has that very block, with the transaction. `out`: it has another block there, or one without the
 * transaction. `late`: it has not reached that block, and another node has. `unproved`: it does not show the block, for
 * instance because it is pruned.
 */
type Standing = 'in' | 'out' | 'late' | 'unproved';

async function standingsOf(
  look: Look,
  head: bigint,
  blockAt: BlockAt,
  receipts: ReadonlyMap<TrackedTransaction, Receipt>,
): Promise<Map<TrackedTransaction, Standing>> {
  const hidden = look.tracked.filter((one) => one.seen !== undefined && !receipts.has(one));
  return new Map(await mapLimited(hidden, async (one) => [one, await standingOf(look, one, head, blockAt)] as const));
}

async function standingOf(
  { rpc, isLate }: Look,
  { hashes, seen, seenIn = 0n }: TrackedTransaction,
  head: bigint,
  blockAt: BlockAt,
): Promise<Standing> {
  if (head >= seenIn) {
    const block = await blockAt(seenIn);
    if (block == null) return 'unproved';
    return holds(block, seen?.block_hash ?? '', hashes) ? 'in' : 'out';
  }
  if (isLate) return 'late';
  const heads = await rpc.each('eth_blockNumber', []);
  return heads.some((answer) => answer.status === 'fulfilled' && isAtLeast(answer.value, seenIn)) ? 'late' : 'out';
}

/**
 * The receipt from when the transaction was seen. Nodes may prune a receipt before the transaction is deep enough to be
 * final.
 */
function lastSeenReceipt({ entry, account, seen }: TrackedTransaction): Receipt | undefined {
  const { hash } = entry.transaction;
  if (seen === undefined || hash === null) return undefined;
  return {
    transactionHash: hash.toLowerCase(),
    from: account,
    blockNumber: amountOf(seen.block_number),
    blockHash: seen.block_hash,
    succeeded: seen.succeeded,
    gasUsed: seen.gas_used === null ? null : amountOf(seen.gas_used),
    effectiveGasPrice: seen.effective_gas_price === null ? null : amountOf(seen.effective_gas_price),
    contractAddress: seen.contract_address ?? null,
  };
}

function isAtLeast(answer: Json, block: bigint): boolean {
  try {
    return parseQuantity(answer) >= block;
  } catch {
    return false;
  }
}

/** The causes of the failed transactions. Each cause is asked for once per block that shows the failure. */
async function explain(
  read: ReadFromEndpoint,
  receipts: ReadonlyMap<TrackedTransaction, Receipt>,
): Promise<Map<TrackedTransaction, Revert>> {
  const news = [...receipts].filter(([one, receipt]) => receipt.succeeded === false && !knownRevert(one, receipt));
  const asked = news.filter(([one, receipt]) => isCauseAsked(one, requestOf(one, receipt)));
  const reverts = await Promise.all(
    asked.slice(0, REVERTS_AT_ONCE).map(async ([one, receipt]) => {
      const { transactionHash: hash, blockNumber: block, gasUsed } = receipt;
      const attempt = { request: requestOf(one, receipt), fields: fieldsOf(one, receipt) };
      return [one, await revertReason(read, { ...attempt, hash, block, gasUsed })] as const;
    }),
  );
  return new Map(reverts);
}

/**
 * Whether to ask for the cause: if the policy allows it, or if the request brings the contract's errors to read it by.
 */
function isCauseAsked({ entry }: TrackedTransaction, request: JsonObject): boolean {
  return readPolicy(entry.account.policies).includeRevertData || request['abi'] !== undefined;
}

/** The request of the attempt that is in the block. */
function requestOf(one: TrackedTransaction, receipt: Receipt): JsonObject {
  return attemptOf(one, receipt)?.request ?? one.entry.transaction.request;
}

function knownRevert({ entry }: TrackedTransaction, { blockHash }: Receipt): Revert | undefined {
  const {
    block_hash,
    revert_reason: reason,
    revert_data: data,
  } = readChainFields(entry.transaction.fields)?.receipt ?? {};
  return block_hash === blockHash && reason !== undefined ? { reason, data: data ?? null } : undefined;
}

function attemptOf(
  { entry }: TrackedTransaction,
  { transactionHash }: Receipt,
): ObservedTransaction['attempts'][number] | undefined {
  return entry.attempts.find(({ hash }) => hash.toLowerCase() === transactionHash);
}

/** The fields of the attempt that is in the block. */
function fieldsOf(one: TrackedTransaction, receipt: Receipt): EvmFields | undefined {
  return readChainFields(attemptOf(one, receipt)?.fields ?? {}) ?? readChainFields(one.entry.transaction.fields);
}

function included(
  one: TrackedTransaction,
  receipt: Receipt,
  final: boolean,
  explained: Revert | undefined,
): TransactionObservation {
  const fields = fieldsOf(one, receipt);
  const succeeded = receipt.succeeded ?? !usedUp(receipt, fields);
  const revert = succeeded ? undefined : (explained ?? knownRevert(one, receipt));
  const mined: EvmFields['receipt'] = {
    block_number: jsonAmount(receipt.blockNumber),
    block_hash: receipt.blockHash,
    succeeded,
    gas_used: receipt.gasUsed === null ? null : jsonAmount(receipt.gasUsed),
    effective_gas_price: receipt.effectiveGasPrice === null ? null : jsonAmount(receipt.effectiveGasPrice),
    ...(receipt.contractAddress === null ? {} : { contract_address: receipt.contractAddress }),
    ...(revert === undefined ? {} : { revert_reason: revert.reason }),
    ...(revert === undefined || revert.data === null ? {} : { revert_data: revert.data }),
  };
  return {
    kind: 'included',
    hash: receipt.transactionHash,
    succeeded,
    final,
    reason: succeeded ? null : (revert?.reason ?? REVERTED),
    fields: fields === undefined ? { receipt: mined } : storedFields({ ...fields, receipt: mined }),
  };
}

/**
 * Whether a receipt from before EIP-658 shows a failure. Such receipts have no status, but every failure took all the
 * gas. A plain transfer takes all its gas as well, so it does not count.
 */
function usedUp({ gasUsed }: Receipt, fields: EvmFields | undefined): boolean {
  return gasUsed !== null && gasUsed > 21_000n && usedAllGas(gasUsed, fields);
}

/** The transaction as it was last seen. A node that is behind can neither confirm nor deny that. */
function lastSeen({ entry, seen }: TrackedTransaction): TransactionObservation {
  const { hash, fields } = entry.transaction;
  if (hash === null || seen === undefined) return OPEN;
  const { succeeded, revert_reason: reason = REVERTED } = seen;
  return { kind: 'included', hash, succeeded, final: false, reason: succeeded ? null : reason, fields };
}

/** The height that a node must have reached to be asked about what another node has already shown. */
interface HeadFloor {
  /** The floor. It is below every block while nothing was seen lately. */
  height(): bigint;
  /** Notes a block in which a node has shown a transaction of ours. */
  raise(block: bigint): void;
}

/**
 * How long a sighting keeps the floor. Nodes of one network lag by seconds. With more time, a node that lied about its
 * height could rule out all others.
 */
const IN_FORCE_MS = 30_000;

/** Makes a floor that each sighting raises. It is given up after half a minute without a sighting. */
function createHeadFloor(clock: Clock): HeadFloor {
  let floor = -1n;
  let raisedAt = 0;
  const height = () => (clock.elapsed() - raisedAt < IN_FORCE_MS ? floor : -1n);
  return {
    height,
    raise(block) {
      if (block < height()) return;
      floor = block;
      raisedAt = clock.elapsed();
    },
  };
}
