import { amountOf, jsonAmount, largestAmount } from '../../domain/amount.ts';
import type { ReadFromEndpoint, RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { Anchor } from '../../features/transactions/records/anchor.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import type {
  LaneCommitments,
  ParkedPreparation,
  ReadyPreparation,
  RefusedPreparation,
  RelayerAccount,
  TransactionPreparation,
} from '../chain-client.ts';
import { confirmRefusal } from '../quorum.ts';
import { readPolicy, type SolanaPolicy } from './configuration/policy.ts';
import {
  isNodeBehindError,
  isPayerUnderfunded,
  isTransientError,
  transactionErrorName,
  transactionErrorText,
} from './errors.ts';
import { messageFee } from './fees.ts';
import { type DraftPurpose, draftMessage, type MessageDraft, NODE_BEHIND_MS, parkIfNodeBehind } from './form/draft.ts';
import { simulatedBalance, simulatedLossFault } from './guard/fee-payer.ts';
import {
  clientGuardOptions,
  coSignerViolation,
  policyFaultText,
  policyViolation,
  programsOf,
} from './guard/policies.ts';
import { tokenFault } from './guard/tokens.ts';
import { lastValidHeight } from './inclusion/blockhash-lifetime.ts';
import { type CompiledMessage, encodeMessage } from './message/compiled-message.ts';
import { durableNonceOf } from './message/durable-nonce.ts';
import { resolveLookupTables } from './message/lookup-tables.ts';
import {
  decodeTransaction,
  encodeTransaction,
  SIGNATURE_LENGTH,
  transactionSize,
  type WireTransaction,
} from './message/transaction.ts';
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from './programs.ts';
import { messageForChecks } from './request.ts';
import { getBalance, isBlockhashValid, type Simulation, simulateTransaction } from './rpc-calls.ts';
import { readChainFields, readStoredRequest, type SolanaFields, type SolanaRequest } from './schema.ts';
import { lastPriceOf } from './signing.ts';
import { ownFundsSpend } from './spending.ts';
import { rentOfNewAccounts } from './tokens/associated.ts';

/** How soon a transaction that waits for money is tried again. */
const SHORT_OF_FUNDS_MS = 10_000;

/** What a transaction is prepared for. */
interface Asking extends Pick<DraftPurpose, 'settles'> {
  /** Whether it may spend what the relayer holds, where it is the relayer's own. */
  maySpend?: boolean;
}

/**
 * Decides blockhash, compute limit and price of a transaction, and whether policies, balance and a trial allow it.
 */
export async function prepareTransaction(
  rpc: RpcClient,
  transaction: Pick<Transaction, 'request'> & Partial<Pick<Transaction, 'createdAt' | 'fields'>>,
  account: RelayerAccount,
  lane: LaneCommitments,
  { settles = true, maySpend = true }: Asking = {},
): Promise<TransactionPreparation> {
  const { createdAt, fields = {} } = transaction;
  const violation = ownViolation(readStoredRequest(transaction.request), account, maySpend);
  if (violation !== undefined) return refused(violation);
  const drafting = {
    settles,
    maySpend,
    lastPrice: lastPriceOf(fields),
    ...(createdAt === undefined ? {} : { acceptedAt: createdAt }),
  };
  const prepareOn = async (read: ReadFromEndpoint) => {
    const decided = await prepareOnce(read, transaction, account, lane, drafting);
    return decided.kind === 'ready' ? withLastHeight(rpc, read, decided) : decided;
  };
  return confirmRefusal(await rpc.onOne(prepareOn), rpc, prepareOn);
}

/** A policy violation that shows without the chain. No endpoint decides it, so no second endpoint has to confirm it. */
function ownViolation(
  { transaction, instructions = [] }: SolanaRequest,
  account: RelayerAccount,
  maySpend: boolean,
): string | undefined {
  const message =
    transaction === undefined ? messageForChecks(instructions, account) : decodeTransaction(transaction).message;
  const policy = readPolicy(account.policies);
  const guard = clientGuardOptions(message, policy, maySpend);
  return policyViolation({ message, size: transactionSize(message) }, account.address, policy, guard);
}

/** Why a transaction is not signed as it is. */
export interface SigningRefusal {
  /** The cause: the transaction itself, the relayer's balance, or a node that knows too little. */
  kind: 'validation' | 'funds' | 'provider';
  reason: string;
  /** The reason without the opening words that all reasons of its kind share. */
  detail: string;
}

/**
 * Checks a transaction that somebody else will send, so its bytes must stay as they are. Undefined: nothing is against
 * it.
 */
export async function judgeForSigning(
  rpc: RpcClient,
  transaction: string,
  account: RelayerAccount,
): Promise<SigningRefusal | undefined> {
  const input = { request: { transaction } };
  const lane = { committed: (await account.committed?.()) ?? 0n };
  const decided = await prepareTransaction(rpc, input, account, lane, {
    settles: false,
    maySpend: account.maySpend === true,
  });
  if (decided.kind === 'refused' || decided.kind === 'parked') return verdictOf(decided);
  const { message } = decodeTransaction(transaction);
  if (decided.kind === 'ready' && decided.fields['message'] === encodeMessage(message).toString('base64')) {
    return undefined;
  }
  return lapsed(message);
}

/**
 * {@link judgeForSigning} for a transaction of another fee payer, which may spend what the relayer holds. A trial shows what it
 * takes from the relayer's account.
 */
export async function judgeCoSigned(
  rpc: RpcClient,
  { message, messageBytes, signatures }: WireTransaction,
  account: RelayerAccount,
): Promise<SigningRefusal | undefined> {
  const policy = readPolicy(account.policies);
  const committed = (await account.committed?.()) ?? 0n;
  return rpc.onOne(async (read) => {
    const looked = await resolveLookupTables(read, message);
    if (looked.kind === 'fault') return verdictOf(refused(looked.reason));
    const trial = encodeTransaction(signatures, messageBytes);
    const [isLapsed, tried, funds] = await Promise.all([
      durableNonceOf(message) === undefined &&
        isBlockhashValid(read, message.blockhash, 'processed').then((valid) => !valid),
      simulateTransaction(read, trial, { replacesBlockhash: false, after: [account.address] }),
      getBalance(read, account.address),
    ]);
    if (isLapsed) return lapsed(message);
    const called = calledBy(tried, policy);
    if (called === undefined) return verdictOf(refused(UNSEEN));
    const keys = [...message.keys, ...looked.addresses];
    const violation =
      coSignerViolation(
        { message, size: transactionSize(message), lookedUp: looked.addresses, called },
        account.address,
        policy,
      ) ?? (await tokenFault(read, message, keys, policy));
    if (violation !== undefined) return verdictOf(refused(violation));
    const failure = failureOf(tried, {}, message) ?? takeoverOf(tried);
    if (failure !== undefined) return verdictOf(failure);
    const cost = takenIn(tried, funds);
    const short = cost === 0n ? undefined : shortage({ funds, committed, cost, policy });
    return short === undefined ? undefined : verdictOf(parkedForFunds(short));
  });
}

function verdictOf(decided: RefusedPreparation | ParkedPreparation): SigningRefusal {
  const { reason } = decided;
  if (decided.kind === 'refused') return { kind: 'validation', reason, detail: reason.replace(REFUSED, '') };
  return { kind: decided.cause === 'balance' ? 'funds' : 'provider', reason, detail: reason.replace(SHORT, '') };
}

function lapsed({ blockhash }: CompiledMessage): SigningRefusal {
  const reason = `Blockhash ${blockhash} is no longer valid`;
  return { kind: 'validation', reason, detail: reason };
}

/** How reasons begin, in the reference's words. */
const REFUSED = 'Solana transaction validation error: ';
const SHORT = 'Insufficient balance: ';

/** Where the logs are cut off, the transaction may call programs that the logs do not show. */
const UNSEEN = 'Policy violation: It logs more than nodes show, so the programs that it calls cannot be checked';

async function prepareOnce(
  read: ReadFromEndpoint,
  { request }: Pick<Transaction, 'request'>,
  account: RelayerAccount,
  { committed }: LaneCommitments,
  drafting: DraftPurpose & Asking,
): Promise<TransactionPreparation> {
  const input = readStoredRequest(request);
  const policy = readPolicy(account.policies);
  const draft = await draftMessage(read, input, account.address, policy, drafting);
  if (draft.kind !== 'drafted') return draft;
  const { message, signatures } = draft;
  const bytes = encodeMessage(message);
  const looked = await resolveLookupTables(read, message);
  if (looked.kind === 'fault') {
    const refusal = refused(looked.reason);
    return looked.mayBeBehind ? parkIfNodeBehind(read, refusal, drafting.acceptedAt) : refusal;
  }
  const keys = [...message.keys, ...looked.addresses];
  const guard = clientGuardOptions(message, policy, drafting.maySpend === true);
  const own = guard.spends === true ? ownFundsSpend(message) : undefined;

  const trial = encodeTransaction([Buffer.alloc(SIGNATURE_LENGTH), ...signatures.slice(1)], bytes);
  const replacesBlockhash = draft.isLapsed === true;
  const [tried, fee, funds, rent] = await Promise.all([
    draft.tried ?? simulateTransaction(read, trial, { replacesBlockhash, after: [account.address] }),
    messageFee(read, message, bytes),
    getBalance(read, account.address),
    rentOfNewAccounts(read, message, keys),
  ]);
  const called = calledBy(tried, policy);
  if (called === undefined) return refused(UNSEEN);
  const guarded = { message: draft.requested, size: transactionSize(message), lookedUp: looked.addresses, called };
  const violation =
    policyViolation(guarded, account.address, policy, guard) ??
    (await tokenFault(read, draft.requested, [...draft.requested.keys, ...looked.addresses], policy)) ??
    policyFaultText(policy, { fee });
  if (violation !== undefined) return refused(violation);
  const cost = largestAmount(
    fee + rent,
    fee + amountOf(own?.lamports ?? 0),
    // What programs take among themselves has no figure but the trial's.
    own?.uncounted === undefined ? 0n : takenIn(tried, funds),
  );
  const short = shortage({ funds, committed, cost, policy });
  // A trial of a payment fails where the balance does not cover it. The payment waits for money.
  if (short !== undefined && own !== undefined) return parkedForFunds(short);
  // A lapsed transaction may have been executed already, so a failed trial proves nothing. The chain shows what
  // happened.
  if (draft.isLapsed !== true) {
    const failure = failureOf(tried, input, message) ?? takeoverOf(tried);
    if (failure?.kind === 'refused' && tried.error !== null && isNodeBehindError(tried.error)) {
      return parkIfNodeBehind(read, failure, drafting.acceptedAt);
    }
    if (failure !== undefined) return failure;
    if (own === undefined) {
      const bound = { payer: account.address, trial, replacesBlockhash, most: cost };
      const loss = await simulatedLossFault(read, tried, funds, bound);
      if (loss !== undefined) return refused(loss);
    }
  }
  if (short !== undefined) return parkedForFunds(short);
  const fields: SolanaFields = {
    message: bytes.toString('base64'),
    signatures: signatures.map((signature, place) => (place === 0 ? '' : signature.toString('base64'))),
    last_valid_block_height: draft.lastValidBlockHeight === null ? null : jsonAmount(draft.lastValidBlockHeight),
    slot: jsonAmount(draft.slot),
    fee: jsonAmount(fee),
    ...(rent === 0n ? {} : { rent: jsonAmount(rent) }),
    ...(cost === fee + rent ? {} : { spent: jsonAmount(cost - fee - rent) }),
    ...(draft.isSigned === true ? { is_signed: true } : {}),
    ...(draft.nonce === undefined ? {} : { nonce_account: draft.nonce.account }),
  };
  return { kind: 'ready', fields, cost, anchor: anchorOf(draft) };
}

/** Replaces the last valid height by the height that other endpoints bear out. */
async function withLastHeight(
  rpc: RpcClient,
  read: ReadFromEndpoint,
  ready: ReadyPreparation,
): Promise<ReadyPreparation> {
  const ownHeight = readChainFields(ready.fields)?.last_valid_block_height ?? null;
  if (ownHeight === null) return ready;
  const last = await lastValidHeight(rpc, read, amountOf(ownHeight));
  return { ...ready, fields: { ...ready.fields, last_valid_block_height: jsonAmount(last) } };
}

function anchorOf({ nonce }: MessageDraft): Anchor {
  return nonce === undefined ? { kind: 'none' } : { kind: 'text', text: `${nonce.account}:${nonce.value}` };
}

/** What follows from a failed trial; undefined where the transaction may be sent. */
function failureOf(
  { error, logs }: Simulation,
  { errors = [] }: SolanaRequest,
  message: CompiledMessage,
): RefusedPreparation | ParkedPreparation | undefined {
  // `AlreadyProcessed`: somebody else who has the bytes sent them. A look at the chain will find the transaction.
  if (error === null || transactionErrorName(error) === 'AlreadyProcessed') return undefined;
  const reason = transactionErrorText(error, { logs, programs: programsOf(message), errors });
  if (isPayerUnderfunded(error)) return parkedForFunds(reason);
  if (transactionErrorName(error) === 'BlockhashNotFound' || isTransientError(error)) {
    return { kind: 'parked', reason, retryInMs: NODE_BEHIND_MS };
  }
  return refused(`Simulation failed: ${reason}`);
}

/** The programs that a trial called; undefined where they have to be known and its logs were cut off. */
function calledBy({ programs }: Simulation, { allowedPrograms }: SolanaPolicy): string[] | undefined {
  if (programs === null && allowedPrograms !== null) return undefined;
  return (programs ?? []).filter((program) => program !== COMPUTE_BUDGET_PROGRAM);
}

/** Refuses what would leave the relayer's account to another program, or with data: it could pay no fees any more. */
function takeoverOf({ accounts: [wallet] }: Simulation): RefusedPreparation | undefined {
  if (wallet == null || (wallet.owner === SYSTEM_PROGRAM && wallet.data.length === 0)) return undefined;
  return refused('Policy violation: It would make the relayer account unusable');
}

/** What a trial took from the account, in lamports; zero where it does not tell. */
function takenIn(tried: Simulation, funds: bigint): bigint {
  const left = simulatedBalance(tried) ?? funds;
  return left < funds ? funds - left : 0n;
}

/** The account's balance and what it has to cover, in lamports. */
interface Bill {
  funds: bigint;
  committed: bigint;
  cost: bigint;
  policy: SolanaPolicy;
}

/**
 * Why the account has too little, in the reference's words. The lane's other transactions may still take `committed`,
 * so this transaction cannot count on that money.
 */
function shortage({ funds, committed, cost, policy: { minBalance } }: Bill): string | undefined {
  const required = cost + minBalance + committed;
  if (funds >= required) return undefined;
  const underWay = committed > 0n ? `, Under way: ${committed}` : '';
  return (
    `${SHORT}Insufficient relayer balance. ` +
    `Required: ${required}, Available: ${funds}, Fee: ${cost}, Min balance: ${minBalance}${underWay}`
  );
}

function parkedForFunds(reason: string): ParkedPreparation {
  return { kind: 'parked', cause: 'balance', reason, retryInMs: SHORT_OF_FUNDS_MS };
}

function refused(reason: string): RefusedPreparation {
  return { kind: 'refused', reason: `${REFUSED}${reason}` };
}
