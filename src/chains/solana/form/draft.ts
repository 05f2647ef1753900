import { ComputeBudgetProgram, type TransactionInstruction } from '@solana/web3.js';
import { isNodeError, type ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import type { Timestamp } from '../../../features/transactions/records/transaction.ts';
import type { ParkedPreparation, RefusedPreparation, TransactionPreparation } from '../../chain-client.ts';
import { DEFAULT_MAX_FEE, MAX_TRANSACTION, type SolanaPolicy } from '../configuration/policy.ts';
import {
  attemptPriorityPrice,
  computeLimitFor,
  MAX_COMPUTE_UNITS,
  priorityPrice,
  priorityPriceWithin,
} from '../fees.ts';
import { BLOCKHASH_LIFETIME_BLOCKS } from '../inclusion/blockhash-lifetime.ts';
import {
  type CompiledMessage,
  compileLegacyMessage,
  encodeMessage,
  isWritableAccount,
} from '../message/compiled-message.ts';
import { readComputeBudget } from '../message/compute-budget.ts';
import { type DurableNonce, durableNonceOf, getDurableNonceState } from '../message/durable-nonce.ts';
import {
  decodeTransaction,
  encodeTransaction,
  isSignatureOf,
  SIGNATURE_LENGTH,
  transactionSize,
} from '../message/transaction.ts';
import {
  blockhashValidity,
  blockTime,
  chainTip,
  isBlockhashValid,
  latestBlockhash,
  type Simulation,
  simulateTransaction,
} from '../rpc-calls.ts';
import { type SolanaRequest, toTransactionInstructions, type WireInstruction } from '../schema.ts';

/** A message to be signed, before policies and balance are checked. */
export interface MessageDraft {
  kind: 'drafted';
  message: CompiledMessage;
  /** The message as the client asked for it, without the relayer's instructions for compute units. */
  requested: CompiledMessage;
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
export const SEARCH_BACK_SLOTS = 1_000n;

/** How soon a blockhash that a node does not know is looked for again. */
export const NODE_BEHIND_MS = 1_000;

/** What the draft is for. */
export interface DraftPurpose {
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
export async function draftMessage(
  read: ReadFromEndpoint,
  { transaction, instructions = [] }: SolanaRequest,
  payer: string,
  policy: SolanaPolicy,
  drafting: DraftPurpose = {},
): Promise<MessageDraft | TransactionPreparation> {
  if (transaction !== undefined) return given(read, transaction, drafting);
  return composed(read, instructions, payer, policy, drafting.lastPrice);
}

/** Drafts the client's own bytes. Where only the relayer signs, the latest blockhash replaces one that is too old. */
async function given(
  read: ReadFromEndpoint,
  base64: string,
  { settles = false, acceptedAt }: DraftPurpose,
): Promise<MessageDraft | TransactionPreparation> {
  const { message, messageBytes, signatures } = decodeTransaction(base64);
  const isSigned = isSignatureOf(message.keys[0] ?? '', signatures[0] ?? Buffer.alloc(0), messageBytes);
  const signed = isSigned ? ({ isSigned: true } as const) : {};
  const drafted = { kind: 'drafted', message, requested: message, signatures, ...signed } as const;
  const nonce = durableNonceOf(message);
  if (nonce !== undefined) return underNonce(read, drafted, nonce, { settles: isSigned && settles, acceptedAt });
  // A wallet uses the newest blockhash, which confirmed state knows only a moment later.
  const [isValid, { slot, height }] = await Promise.all([
    isBlockhashValid(read, message.blockhash, 'processed'),
    chainTip(read, 'processed'),
  ]);
  const timed = { ...drafted, lastValidBlockHeight: height + BLOCKHASH_LIFETIME_BLOCKS, slot: searchStartSlot(slot) };
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
async function isForgotten(read: ReadFromEndpoint, blockhash: string, acceptedAt: Timestamp): Promise<boolean> {
  const { isValid, slot } = await blockhashValidity(read, blockhash, 'confirmed');
  return !isValid && isPast(read, slot, acceptedAt);
}

/**
 * Whether a node's chain, as far as this slot, is past a moment. What a node lacked before the request was accepted it
 * may just not have seen yet.
 */
async function isPast(read: ReadFromEndpoint, slot: bigint, moment: Timestamp): Promise<boolean> {
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
export async function parkIfNodeBehind(
  read: ReadFromEndpoint,
  refusal: RefusedPreparation,
  acceptedAt: Timestamp | undefined,
): Promise<RefusedPreparation | ParkedPreparation> {
  if (acceptedAt === undefined) return refusal;
  const { slot } = await chainTip(read, 'confirmed');
  if (await isPast(read, slot, acceptedAt + LOOK_AGO_MS)) return refusal;
  return { kind: 'parked', reason: `${refusal.reason}; or the node is behind`, retryInMs: NODE_BEHIND_MS };
}

async function underNonce(
  read: ReadFromEndpoint,
  drafted: Pick<MessageDraft, 'kind' | 'message' | 'requested' | 'signatures' | 'isSigned'>,
  nonce: DurableNonce,
  { settles, acceptedAt }: { settles: boolean; acceptedAt: Timestamp | undefined },
): Promise<MessageDraft | TransactionPreparation> {
  const { slot, value } = await getDurableNonceState(read, nonce.account, 'confirmed');
  const timed = { ...drafted, lastValidBlockHeight: null, slot: searchStartSlot(slot), nonce };
  if (value === nonce.value) return timed;
  if (settles) return { ...timed, isLapsed: true };
  const reason =
    value === undefined
      ? `Nonce account ${nonce.account} does not exist, or is not one`
      : `Nonce account ${nonce.account} has moved on: its value is ${value}, not ${nonce.value}`;
  return parkIfNodeBehind(
    read,
    { kind: 'refused', reason: `Solana transaction validation error: ${reason}` },
    acceptedAt,
  );
}

/** A slot so far back that a transaction that is new now is in no earlier block. */
export function searchStartSlot(slot: bigint): bigint {
  return slot > SEARCH_BACK_SLOTS ? slot - SEARCH_BACK_SLOTS : 0n;
}

async function composed(
  read: ReadFromEndpoint,
  wire: readonly WireInstruction[],
  payer: string,
  policy: SolanaPolicy,
  lastPrice: bigint | undefined,
): Promise<MessageDraft> {
  const instructions = toTransactionInstructions(wire);
  const { blockhash, ...latest } = await latestBlockhash(read);
  // The client's instructions come first: some of them name others by their place (secp256k1, ed25519).
  const compile = (extra: readonly TransactionInstruction[]) =>
    compileLegacyMessage({ payer, instructions: [...instructions, ...extra], blockhash });
  const requested = compile([]);
  const budgeted = await withComputeBudget(read, requested, compile, { policy, lastPrice });
  return { kind: 'drafted', ...budgeted, requested, signatures: [Buffer.alloc(SIGNATURE_LENGTH)], ...latest };
}

/**
 * Adds what the request leaves open: a limit by a trial, a price by what others paid. A message without room stays as
 * it is.
 */
async function withComputeBudget(
  read: ReadFromEndpoint,
  requested: CompiledMessage,
  compile: (extra: readonly TransactionInstruction[]) => CompiledMessage,
  { policy, lastPrice }: { policy: SolanaPolicy; lastPrice: bigint | undefined },
): Promise<Pick<MessageDraft, 'message' | 'tried'>> {
  const own = readComputeBudget(requested);
  const extra = (limit: number, price: bigint) => [
    ...(own.limit === undefined ? [ComputeBudgetProgram.setComputeUnitLimit({ units: limit })] : []),
    ...(own.price === undefined && price > 0n
      ? [ComputeBudgetProgram.setComputeUnitPrice({ microLamports: price })]
      : []),
  ];
  const widest = compile(extra(MAX_COMPUTE_UNITS, 1n));
  if (transactionSize(widest) > Math.min(MAX_TRANSACTION, policy.maxTxDataSize)) return { message: requested };
  const [payer = ''] = requested.keys;
  const trial = encodeTransaction(
    [Buffer.alloc(SIGNATURE_LENGTH)],
    encodeMessage(compile(extra(MAX_COMPUTE_UNITS, 0n))),
  );
  const writable = requested.keys.filter((_key, index) => isWritableAccount(requested, index));
  const [tried, usual] = await Promise.all([
    simulateTransaction(read, trial, { replacesBlockhash: false, after: [payer] }),
    priorityPrice(read, writable),
  ]);
  const limit = own.limit ?? computeLimitFor(tried.used ?? BigInt(MAX_COMPUTE_UNITS));
  const most = priorityPriceWithin(policy.maxAllowedFeeLamports ?? DEFAULT_MAX_FEE, requested.signers, limit);
  const offered = attemptPriorityPrice(usual, lastPrice);
  return { message: compile(extra(limit, offered < most ? offered : most)), tried };
}
