import { amountOf, jsonAmount } from '../../domain/amount.ts';
import type { Anchor } from '../../domain/transaction/anchor.ts';
import type { Transaction } from '../../domain/transaction/transaction.ts';
import type { ReadOne, RpcClient } from '../../egress/rpc/rpc-client.ts';
import type { Account } from '../account.ts';
import type { LaneFigures, Preparation, ReadyPreparation, RefusedPreparation } from '../chain-client.ts';
import { unlessRefusedAlone } from '../quorum.ts';
import { readPolicy, type SolanaPolicy } from './configuration/policy.ts';
import { isPayerPoor, nameOf, reasonOf } from './errors.ts';
import { feeOf } from './fees.ts';
import { type Draft, type Drafting, draftOf, NODE_BEHIND_MS } from './form/draft.ts';
import { lossShown } from './guard/loss.ts';
import { guardOf, policyViolation, programsOf } from './guard/policies.ts';
import { tokenFault } from './guard/tokens.ts';
import { lastHeight } from './inclusion/chain-height.ts';
import { encodeMessage } from './message/compiled-message.ts';
import { lookUp } from './message/lookup-tables.ts';
import { decodeTransaction, encodeTransaction, SIGNATURE_LENGTH, sizeOf } from './message/transaction.ts';
import { COMPUTE_BUDGET_PROGRAM } from './programs.ts';
import { balance, type Simulation, simulate } from './provider.ts';
import { undatedMessage } from './request.ts';
import { readFields, readRequest, type SolanaFields, type SolanaRequest } from './schema.ts';
import { rentPaid } from './tokens/associated.ts';

/** How soon a transaction that waits for money is tried again. */
const SHORT_OF_FUNDS_MS = 10_000;

/**
 * Decides blockhash, compute limit and price of a transaction, and whether policies, balance and a trial allow it.
 */
export async function prepare(
  rpc: RpcClient,
  transaction: Pick<Transaction, 'request'> & Partial<Pick<Transaction, 'createdAt'>>,
  account: Account,
  lane: LaneFigures,
  { settles = true }: Pick<Drafting, 'settles'> = {},
): Promise<Preparation> {
  const { createdAt } = transaction;
  const violation = ownViolation(readRequest(transaction.request), account);
  if (violation !== undefined) return refused(violation);
  const drafting = { settles, ...(createdAt === undefined ? {} : { acceptedAt: createdAt }) };
  const prepareOn = async (read: ReadOne) => {
    const decided = await prepareOnce(read, transaction, account, lane, drafting);
    return decided.kind === 'ready' ? withLastHeight(rpc, read, decided) : decided;
  };
  return unlessRefusedAlone(await rpc.onOne(prepareOn), rpc, prepareOn);
}

/** A policy violation that shows without the chain. No endpoint decides it, so no second endpoint has to confirm it. */
function ownViolation({ transaction, instructions = [] }: SolanaRequest, account: Account): string | undefined {
  const message =
    transaction === undefined ? undatedMessage(instructions, account) : decodeTransaction(transaction).message;
  const policy = readPolicy(account.policies);
  return policyViolation({ message, size: sizeOf(message) }, account.address, policy, guardOf(policy));
}

/** Why a transaction is not signed as it is. */
export interface Verdict {
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
export async function judge(rpc: RpcClient, transaction: string, account: Account): Promise<Verdict | undefined> {
  const asked = { request: { transaction } };
  const decided = await prepare(
    rpc,
    asked,
    account,
    { committed: (await account.committed?.()) ?? 0n },
    { settles: false },
  );
  if (decided.kind === 'refused') {
    return { kind: 'validation', reason: decided.reason, detail: decided.reason.replace(REFUSED, '') };
  }
  if (decided.kind === 'parked') {
    const kind = decided.cause === 'balance' ? 'funds' : 'provider';
    return { kind, reason: decided.reason, detail: decided.reason.replace(SHORT, '') };
  }
  const { message } = decodeTransaction(transaction);
  if (decided.kind === 'ready' && decided.fields['message'] === encodeMessage(message).toString('base64')) {
    return undefined;
  }
  const reason = `Blockhash ${message.blockhash} is no longer valid`;
  return { kind: 'validation', reason, detail: reason };
}

/** How reasons begin, in the reference's words. */
const REFUSED = 'Solana transaction validation error: ';
const SHORT = 'Insufficient balance: ';

/** Where the logs are cut off, the transaction may call programs that the logs do not show. */
const UNSEEN = 'Policy violation: It logs more than nodes show, so the programs that it calls cannot be checked';

async function prepareOnce(
  read: ReadOne,
  { request }: Pick<Transaction, 'request'>,
  account: Account,
  { committed }: LaneFigures,
  drafting: Drafting,
): Promise<Preparation> {
  const asked = readRequest(request);
  const policy = readPolicy(account.policies);
  const draft = await draftOf(read, asked, account.address, policy, drafting);
  if (draft.kind !== 'drafted') return draft;
  const { message, signatures } = draft;
  const bytes = encodeMessage(message);
  const looked = await lookUp(read, message);
  if (looked.kind === 'fault') return refused(looked.reason);
  const keys = [...message.keys, ...looked.addresses];

  const trial = encodeTransaction([Buffer.alloc(SIGNATURE_LENGTH), ...signatures.slice(1)], bytes);
  const replacesBlockhash = draft.isLapsed === true;
  const [tried, fee, funds, rent] = await Promise.all([
    draft.tried ?? simulate(read, trial, { replacesBlockhash, after: [account.address] }),
    feeOf(read, message, bytes),
    balance(read, account.address),
    rentPaid(read, message, keys),
  ]);
  if (tried.programs === null && policy.allowedPrograms !== null) return refused(UNSEEN);
  const called = (tried.programs ?? []).filter((program) => program !== COMPUTE_BUDGET_PROGRAM);
  const guarded = { message: draft.asked, size: sizeOf(message), lookedUp: looked.addresses, called };
  const violation =
    policyViolation(guarded, account.address, policy, guardOf(policy)) ??
    (await tokenFault(read, draft.asked, [...draft.asked.keys, ...looked.addresses], policy));
  if (violation !== undefined) return refused(violation);
  // A lapsed transaction may have been executed already, so a failed trial proves nothing. The chain shows what
  // happened.
  const failure = draft.isLapsed === true ? undefined : failureOf(tried, asked, draft);
  if (failure !== undefined) return failure;
  if (fee > policy.mostFee) {
    return refused(`Policy violation: Fee amount ${fee} exceeds max allowed fee amount ${policy.mostFee}`);
  }
  const cost = fee + rent;
  if (draft.isLapsed !== true) {
    const bound = { payer: account.address, trial, replacesBlockhash, most: cost };
    const loss = await lossShown(read, tried, funds, bound);
    if (loss !== undefined) return refused(loss);
  }
  const short = shortage({ funds, committed, cost, policy });
  if (short !== undefined) return parkedForFunds(short);
  const fields: SolanaFields = {
    message: bytes.toString('base64'),
    signatures: signatures.map((signature, place) => (place === 0 ? '' : signature.toString('base64'))),
    last_valid_block_height: draft.lastValidBlockHeight === null ? null : jsonAmount(draft.lastValidBlockHeight),
    slot: jsonAmount(draft.slot),
    fee: jsonAmount(fee),
    ...(rent === 0n ? {} : { rent: jsonAmount(rent) }),
    ...(draft.isSigned === true ? { is_signed: true } : {}),
    ...(draft.nonce === undefined ? {} : { nonce_account: draft.nonce.account }),
  };
  return { kind: 'ready', fields, cost, anchor: anchorOf(draft) };
}

/** Replaces the last valid height by the height that other endpoints bear out. */
async function withLastHeight(rpc: RpcClient, read: ReadOne, ready: ReadyPreparation): Promise<ReadyPreparation> {
  const told = readFields(ready.fields)?.last_valid_block_height ?? null;
  if (told === null) return ready;
  const last = await lastHeight(rpc, read, amountOf(told));
  return { ...ready, fields: { ...ready.fields, last_valid_block_height: jsonAmount(last) } };
}

function anchorOf({ nonce }: Draft): Anchor {
  return nonce === undefined ? { kind: 'none' } : { kind: 'text', text: `${nonce.account}:${nonce.value}` };
}

/** What follows from a failed trial; undefined where the transaction may be sent. */
function failureOf(
  { error, logs }: Simulation,
  { errors = [] }: SolanaRequest,
  { message }: Draft,
): Preparation | undefined {
  // `AlreadyProcessed`: somebody else who has the bytes sent them. A look at the chain will find the transaction.
  if (error === null || nameOf(error) === 'AlreadyProcessed') return undefined;
  const reason = reasonOf(error, { logs, programs: programsOf(message), errors });
  if (isPayerPoor(error)) return parkedForFunds(reason);
  if (nameOf(error) === 'BlockhashNotFound') return { kind: 'parked', reason, retryInMs: NODE_BEHIND_MS };
  return refused(`Simulation failed: ${reason}`);
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

function parkedForFunds(reason: string): Preparation {
  return { kind: 'parked', cause: 'balance', reason, retryInMs: SHORT_OF_FUNDS_MS };
}

function refused(reason: string): RefusedPreparation {
  return { kind: 'refused', reason: `${REFUSED}${reason}` };
}
