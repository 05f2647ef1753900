import { amountOf, jsonAmount } from '../../domain/amount.ts';
import type { JsonObject } from '../../domain/json/json.ts';
import { type Attempt, livingOf } from '../../domain/transaction/attempt.ts';
import type { Transaction } from '../../domain/transaction/transaction.ts';
import { EndpointUnfit, type ReadOne, type RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { Observation, ObservedEntry } from '../client.ts';
import { answersInTime, isBorneOut, type Opinion, proofOf } from '../quorum.ts';
import { reasonOf } from './errors.ts';
import { programsOf } from './guard/policies.ts';
import { decodeMessage } from './message/message.ts';
import { nonceValue } from './message/nonce-account.ts';
import {
  firstAvailableBlock,
  landed,
  type SignatureStatus,
  type Standing,
  signatureStatuses,
  standing,
} from './provider.ts';
import { readFields, readRequest, type SolanaFields, type SolanaReceipt } from './schema.ts';

const OPEN: Observation = { kind: 'open' };

const FAILED = 'failed on chain';

/** The last lines of a failed one's logs that are kept; what failed stands at the end. */
const LINES_KEPT = 50;

/** One attempt that is looked for. */
interface Sought {
  attempt: Attempt;
  fields: SolanaFields;
}

/** What one node shows at one look. */
interface View {
  /** Where its chain is final; read before the statuses, so that what is below it is among them. */
  final: Standing;
  /** The slot to which the statuses go. */
  slot: bigint;
  statuses: ReadonlyMap<string, SignatureStatus>;
  /** The earliest slot of its history. */
  first: bigint;
  /** The values of the durable nonces, by account, where they are final. */
  nonces: ReadonlyMap<string, string | undefined>;
}

/**
 * What one node's chain shows of each transaction. An attempt is dead when a node whose final blocks are past the last one
 * that could take it, and whose history goes back to before it was signed, has no status of it; a second endpoint, where
 * there is one, has to show the same.
 */
export async function observe(rpc: RpcClient, entries: readonly ObservedEntry[]): Promise<Observation[]> {
  return rpc.onOne(async (read) => {
    const sought = entries.map(({ attempts }) => attempts.map(seek));
    const all = sought.flat();
    const view = await viewOf(read, all);
    const [dead, finals] = await Promise.all([deadAmong(rpc, read, view, all), finalAmong(rpc, read, view, all)]);
    return Promise.all(
      entries.map((entry, index) => observationOf(read, entry, sought[index] ?? [], { view, dead, finals })),
    );
  });
}

function seek(attempt: Attempt): Sought {
  const fields = readFields(attempt.fields);
  if (fields === undefined) throw new TypeError('a signed attempt was prepared');
  return { attempt, fields };
}

async function viewOf(read: ReadOne, sought: readonly Sought[]): Promise<View> {
  const accounts = [...new Set(sought.flatMap(({ fields }) => fields.nonce_account ?? []))];
  const [final, first, values] = await Promise.all([
    standing(read, 'finalized'),
    firstAvailableBlock(read),
    Promise.all(accounts.map((account) => nonceValue(read, account, 'finalized'))),
  ]);
  const hashes = sought.map(({ attempt }) => attempt.hash);
  const { slot, statuses } = await signatureStatuses(read, hashes);
  // Behind a gateway each call may have gone to another node.
  if (slot < final.slot)
    throw new EndpointUnfit(`its statuses end at slot ${slot}, before ${final.slot}`, { pauseMs: 0 });
  const known = hashes.flatMap((hash, index): [string, SignatureStatus][] => {
    const status = statuses[index] ?? null;
    return status === null ? [] : [[hash, status]];
  });
  return {
    ...{ final, first, slot },
    statuses: new Map(known),
    nonces: new Map(accounts.map((account, index) => [account, values[index]])),
  };
}

/** Whether a view proves that an attempt is in no block and never will be. */
function isDead(view: View, { attempt, fields }: Sought): boolean {
  if (view.statuses.has(attempt.hash) || view.first > amountOf(fields.slot)) return false;
  const last = fields.last_valid_block_height;
  if (last !== null) return view.final.height > amountOf(last);
  const { nonce_account: account = '' } = fields;
  const value = view.nonces.get(account);
  return value !== undefined && !isUnder(attempt, account, value);
}

/** Whether an attempt is still good under a nonce's value. */
function isUnder({ anchor }: Attempt, account: string, value: string): boolean {
  return anchor.kind === 'text' && anchor.text === `${account}:${value}`;
}

async function deadAmong(
  rpc: RpcClient,
  read: ReadOne,
  view: View,
  sought: readonly Sought[],
): Promise<ReadonlySet<Attempt>> {
  const claimed = sought.filter((one) => one.attempt.deadAt === null && isDead(view, one));
  if (claimed.length === 0 || rpc.endpointCount < 2) return new Set(claimed.map(({ attempt }) => attempt));
  const others = await answersInTime(rpc.onOthers(read, (other) => viewOf(other, claimed)));
  const opinionOf = (other: View, one: Sought): Opinion => {
    if (other.statuses.has(one.attempt.hash)) return 'other';
    return isDead(other, one) ? 'same' : 'none';
  };
  const proved = claimed.filter(
    (one) => proofOf(['same', ...others.map((other) => opinionOf(other, one))]) === 'shown',
  );
  return new Set(proved.map(({ attempt }) => attempt));
}

/** Those that are final, and that no other endpoint denies. */
async function finalAmong(
  rpc: RpcClient,
  read: ReadOne,
  view: View,
  sought: readonly Sought[],
): Promise<ReadonlySet<string>> {
  const claimed = sought.map(({ attempt }) => attempt.hash).filter((hash) => isFinal(view.statuses.get(hash)));
  if (claimed.length === 0 || rpc.endpointCount < 2) return new Set(claimed);
  const others = await answersInTime(
    rpc.onOthers(read, async (other) => {
      const final = await standing(other, 'finalized');
      return { final, ...(await signatureStatuses(other, claimed)) };
    }),
  );
  const borneOut = claimed.filter((hash, index) => {
    const slot = view.statuses.get(hash)?.slot ?? 0n;
    const opinions = others.map(({ statuses, final }): Opinion => {
      const status = statuses[index] ?? null;
      if (status !== null) return status.slot === slot ? 'same' : 'other';
      return final.slot >= slot ? 'other' : 'none';
    });
    return isBorneOut(opinions);
  });
  return new Set(borneOut);
}

function isFinal(status: SignatureStatus | undefined): boolean {
  return status?.commitment === 'finalized';
}

interface Findings {
  view: View;
  dead: ReadonlySet<Attempt>;
  finals: ReadonlySet<string>;
}

async function observationOf(
  read: ReadOne,
  entry: ObservedEntry,
  sought: readonly Sought[],
  { view, dead, finals }: Findings,
): Promise<Observation> {
  for (const one of sought) {
    const status = view.statuses.get(one.attempt.hash);
    if (status !== undefined && counts(entry, status)) {
      return included(read, entry, one, { status, isFinal: finals.has(one.attempt.hash) });
    }
  }
  const seen = asSeen(entry, view);
  if (seen !== undefined) return seen;
  const living = livingOf(sought.map(({ attempt }) => attempt));
  const died = living.filter((attempt) => dead.has(attempt));
  if (died.length === 0) return OPEN;
  const nonce = sought.find(({ attempt, fields }) => dead.has(attempt) && fields.nonce_account !== undefined);
  if (died.length === living.length && nonce !== undefined) {
    return {
      kind: 'dead',
      anchor: 'used',
      reason: `Nonce account ${nonce.fields.nonce_account} was advanced by another transaction`,
    };
  }
  return { kind: 'open', dead: died.map(({ ordinal }) => ordinal) };
}

/** A block that is only processed is often not one of the chain's in the end, unless it was confirmed before. */
function counts({ transaction }: ObservedEntry, { commitment, slot }: SignatureStatus): boolean {
  return commitment !== 'processed' || receiptAt(transaction)?.slot === jsonAmount(slot);
}

/** As it was seen where the node has not come that far: it can neither confirm nor deny it. */
function asSeen({ transaction }: ObservedEntry, { slot }: View): Observation | undefined {
  const receipt = receiptAt(transaction);
  const { hash, fields } = transaction;
  if (hash === null || receipt === undefined || slot >= amountOf(receipt.slot)) return undefined;
  const { succeeded, reason = FAILED } = receipt;
  return { kind: 'included', hash, succeeded, final: false, reason: succeeded ? null : reason, fields };
}

/** Of a transaction that counts as being in a block; what a fork took back leaves its receipt behind. */
function receiptAt({ status, fields }: Transaction): SolanaReceipt | undefined {
  return status === 'mined' ? readFields(fields)?.receipt : undefined;
}

async function included(
  read: ReadOne,
  { transaction }: ObservedEntry,
  { attempt, fields }: Sought,
  { status, isFinal: final }: { status: SignatureStatus; isFinal: boolean },
): Promise<Observation> {
  const known = receiptAt(transaction);
  const isKnown = transaction.hash === attempt.hash && amountOf(known?.slot ?? 0) === status.slot;
  const receipt =
    known !== undefined && isKnown ? known : await receiptOf(read, transaction.request, { attempt, fields }, status);
  return {
    kind: 'included',
    hash: attempt.hash,
    succeeded: receipt.succeeded,
    final,
    reason: receipt.succeeded ? null : (receipt.reason ?? FAILED),
    fields: { ...fields, receipt },
  };
}

/** What the transaction did; of one that failed also why, with the logs that say so. */
async function receiptOf(
  read: ReadOne,
  request: JsonObject,
  { attempt, fields }: Sought,
  { slot, error }: SignatureStatus,
): Promise<SolanaReceipt> {
  if (error === null) return { slot: jsonAmount(slot), succeeded: true };
  // The reason is worth a question, and not the look.
  const found = await landed(read, attempt.hash).catch(() => null);
  const logs = found?.logs.slice(-LINES_KEPT) ?? [];
  const { errors = [], instructions } = readRequest(request);
  const programs = programsOf(decodeMessage(Buffer.from(fields.message, 'base64')));
  const added = instructions === undefined ? 0 : programs.length - instructions.length;
  return {
    slot: jsonAmount(slot),
    succeeded: false,
    ...(found === null ? {} : { fee: jsonAmount(found.fee) }),
    logs,
    reason: reasonOf(error, { logs, programs, added, errors }),
  };
}
