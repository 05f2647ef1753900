import { ComputeBudgetProgram, type TransactionInstruction } from '@solana/web3.js';
import type { Timestamp } from '../../../domain/transaction/transaction.ts';
import { isNodeError, type ReadOne } from '../../../egress/rpc/rpc-client.ts';
import type { ParkedPreparation, Preparation, RefusedPreparation } from '../../chain-client.ts';
import { MAX_TRANSACTION, type SolanaPolicy } from '../configuration/policy.ts';
import { limitFor, MAX_UNITS, offeredPrice, priceWithin, priorityPrice } from '../fees.ts';
import { BLOCKHASH_LIFE } from '../inclusion/chain-height.ts';
import { compileLegacy, encodeMessage, isWritable, type Message } from '../message/compiled-message.ts';
import { readComputeBudget } from '../message/compute-budget.ts';
import { type DurableNonce, nonceOf, nonceState } from '../message/durable-nonce.ts';
import {
  decodeTransaction,
  encodeTransaction,
  isSignatureOf,
  SIGNATURE_LENGTH,
  sizeOf,
} from '../message/transaction.ts';
import {
  blockhashValidity,
  blockTime,
  chainTip,
  isBlockhashValid,
  latestBlockhash,
  type Simulation,
  simulate,
} from '../provider.ts';
import { fromWire, type SolanaRequest, type WireInstruction } from '../schema.ts';

/** A message to be signed, before policies and balance are checked. */
export interface Draft {
  kind: 'drafted';
  message: Message;
  /** The message as the client asked for it, without the relayer's instructions for compute units. */
  requested: Message;
  /** The trial that found the compute limit; absent where there was none. */
  tried?: Simulation;
  /** By place; the relayer's own place is ignored. */
  signatures: readonly Buffer[];
  /** The relayer has signed these very bytes before. */
  isSigned?: boolean;
  /**
   * Its blockhash or nonce seems to be over, but whoever has its bytes may have sent them before. The chain shows it.
   */
  isLapsed?: boolean;
  /** Null under a durable nonce. */
  lastValidBlockHeight: bigint | null;
  /** The transaction is in no block of an earlier slot. */
  slot: bigint;
  nonce?: DurableNonce;
}

/**
 * How many slots back the transaction may be in a block. A client may have sent the bytes itself, under a blockhash
 * that was 150 blocks old. Some slots have no block.
 */
export const SLOTS_BEFORE = 1_000n;

/** How soon a blockhash that a node does not know is looked for again. */
export const NODE_BEHIND_MS = 1_000;

/** What the draft is for. */
export interface Drafting {
  /**
   * The draft becomes a transaction of the relayer, whose end the chain shows. Then lapsed bytes that the relayer has
   * signed before are drafted too.
   */
  settles?: boolean;
  /** When the request was accepted. Absent: a node that does not know its blockhash is believed at once. */
  acceptedAt?: Timestamp;
  /** The price of the attempt before, which got into no block; absent for the first attempt. */
  lastPrice?: bigint | undefined;
}

/** Gives a request a valid blockhash. A message that the relayer composes also gets a compute limit and a price. */
export async function draftOf(
  read: ReadOne,
  { transaction, instructions = [] }: SolanaRequest,
  payer: string,
  policy: SolanaPolicy,
  drafting: Drafting = {},
): Promise<Draft | Preparation> {
  if (transaction !== undefined) return given(read, transaction, drafting);
  return composed(read, instructions, payer, policy, drafting.lastPrice);
}

/** Drafts the client's own bytes. Where only the relayer signs, the latest blockhash replaces one that is too old. */
async function given(
  read: ReadOne,
  base64: string,
  { settles = false, acceptedAt }: Drafting,
): Promise<Draft | Preparation> {
  const { message, messageBytes, signatures } = decodeTransaction(base64);
  const isSigned = isSignatureOf(message.keys[0] ?? '', signatures[0] ?? Buffer.alloc(0), messageBytes);
  const signed = isSigned ? ({ isSigned: true } as const) : {};
  const drafted = { kind: 'drafted', message, requested: message, signatures, ...signed } as const;
  const nonce = nonceOf(message);
  if (nonce !== undefined) return underNonce(read, drafted, nonce, { settles: isSigned && settles, acceptedAt });
  // A wallet uses the newest blockhash, which confirmed state knows only a moment later.
  const [isValid, { slot, height }] = await Promise.all([
    isBlockhashValid(read, message.blockhash, 'processed'),
    chainTip(read, 'processed'),
  ]);
  const timed = { ...drafted, lastValidBlockHeight: height + BLOCKHASH_LIFE, slot: longBefore(slot) };
  if (isValid) return timed;
  if (isSigned && settles) return { ...timed, isLapsed: true };
  if (message.signers > 1) {
    if (acceptedAt !== undefined && !(await isForgotten(read, message.blockhash, acceptedAt))) {
      const reason = `Blockhash ${message.blockhash} is not known to the node, which may be behind`;
      return { kind: 'parked', reason, retryInMs: NODE_BEHIND_MS };
    }
    const reason = `Blockhash expired and transaction requires ${message.signers} signatures (cannot resubmit)`;
    return { kind: 'refused', reason, end: 'expired' };
  }
  const { blockhash, ...latest } = await latestBlockhash(read);
  const renewed = { ...message, blockhash };
  return { kind: 'drafted', signatures, message: renewed, requested: renewed, ...latest };
}

/**
 * Whether a node does not take a blockhash any more. Until the node's chain is past the acceptance of the request, the
 * node may just be behind.
 */
async function isForgotten(read: ReadOne, blockhash: string, acceptedAt: Timestamp): Promise<boolean> {
  const { isValid, slot } = await blockhashValidity(read, blockhash, 'confirmed');
  return !isValid && isPast(read, slot, acceptedAt);
}

/**
 * Whether a node's chain, as far as this slot, is past a moment. What a node lacked before the request was accepted it
 * may just not have seen yet.
 */
async function isPast(read: ReadOne, slot: bigint, moment: Timestamp): Promise<boolean> {
  try {
    const at = await blockTime(read, slot);
    return at !== null && at > moment;
  } catch (error) {
    // A node that tells no block times is believed too.
    if (isNodeError(error)) return true;
    throw error;
  }
}

/** The chain's clock has whole seconds, and the node may have looked a block earlier than it tells now. */
const LOOK_AGO_MS = 2_000;

/**
 * Parks a transaction that a node refuses for something that it does not have, as long as the node may be behind.
 * @param acceptedAt absent: the node is believed at once
 */
export async function unlessBehind(
  read: ReadOne,
  refusal: RefusedPreparation,
  acceptedAt: Timestamp | undefined,
): Promise<RefusedPreparation | ParkedPreparation> {
  if (acceptedAt === undefined) return refusal;
  const { slot } = await chainTip(read, 'confirmed');
  if (await isPast(read, slot, acceptedAt + LOOK_AGO_MS)) return refusal;
  return { kind: 'parked', reason: `${refusal.reason}; or the node is behind`, retryInMs: NODE_BEHIND_MS };
}

async function underNonce(
  read: ReadOne,
  drafted: Pick<Draft, 'kind' | 'message' | 'requested' | 'signatures' | 'isSigned'>,
  nonce: DurableNonce,
  { settles, acceptedAt }: { settles: boolean; acceptedAt: Timestamp | undefined },
): Promise<Draft | Preparation> {
  const { slot, value } = await nonceState(read, nonce.account, 'confirmed');
  const timed = { ...drafted, lastValidBlockHeight: null, slot: longBefore(slot), nonce };
  if (value === nonce.value) return timed;
  if (settles) return { ...timed, isLapsed: true };
  const reason =
    value === undefined
      ? `Nonce account ${nonce.account} does not exist, or is not one`
      : `Nonce account ${nonce.account} has moved on: its value is ${value}, not ${nonce.value}`;
  return unlessBehind(read, { kind: 'refused', reason: `Solana transaction validation error: ${reason}` }, acceptedAt);
}

/** A slot so far back that a transaction that is new now is in no earlier block. */
export function longBefore(slot: bigint): bigint {
  return slot > SLOTS_BEFORE ? slot - SLOTS_BEFORE : 0n;
}

async function composed(
  read: ReadOne,
  wire: readonly WireInstruction[],
  payer: string,
  policy: SolanaPolicy,
  lastPrice: bigint | undefined,
): Promise<Draft> {
  const instructions = fromWire(wire);
  const { blockhash, ...latest } = await latestBlockhash(read);
  // The client's instructions come first: some of them name others by their place (secp256k1, ed25519).
  const compile = (extra: readonly TransactionInstruction[]) =>
    compileLegacy({ payer, instructions: [...instructions, ...extra], blockhash });
  const requested = compile([]);
  const budgeted = await withComputeBudget(read, requested, compile, { policy, lastPrice });
  return { kind: 'drafted', ...budgeted, requested, signatures: [Buffer.alloc(SIGNATURE_LENGTH)], ...latest };
}

/**
 * Adds what the request leaves open: a limit by a trial, a price by what others paid. A message without room stays as
 * it is.
 */
async function withComputeBudget(
  read: ReadOne,
  requested: Message,
  compile: (extra: readonly TransactionInstruction[]) => Message,
  { policy, lastPrice }: { policy: SolanaPolicy; lastPrice: bigint | undefined },
): Promise<Pick<Draft, 'message' | 'tried'>> {
  const own = readComputeBudget(requested);
  const extra = (limit: number, price: bigint) => [
    ...(own.limit === undefined ? [ComputeBudgetProgram.setComputeUnitLimit({ units: limit })] : []),
    ...(own.price === undefined && price > 0n
      ? [ComputeBudgetProgram.setComputeUnitPrice({ microLamports: price })]
      : []),
  ];
  const widest = compile(extra(MAX_UNITS, 1n));
  if (sizeOf(widest) > Math.min(MAX_TRANSACTION, policy.largestTransaction)) return { message: requested };
  const [payer = ''] = requested.keys;
  const trial = encodeTransaction([Buffer.alloc(SIGNATURE_LENGTH)], encodeMessage(compile(extra(MAX_UNITS, 0n))));
  const writable = requested.keys.filter((_key, index) => isWritable(requested, index));
  const [tried, usual] = await Promise.all([
    simulate(read, trial, { replacesBlockhash: false, after: [payer] }),
    priorityPrice(read, writable),
  ]);
  const limit = own.limit ?? limitFor(tried.used ?? BigInt(MAX_UNITS));
  const most = priceWithin(policy.mostFee, requested.signers, limit);
  const offered = offeredPrice(usual, lastPrice);
  return { message: compile(extra(limit, offered < most ? offered : most)), tried };
}
