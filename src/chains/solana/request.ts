import { createHash } from 'node:crypto';
import { z } from 'zod';
import { toBase58 } from '../../domain/base58.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { strictObjectSchema } from '../../domain/json/issue-text.ts';
import type { Timestamp } from '../../features/transactions/records/transaction.ts';
import type { ParsedRequest, RelayerAccount } from '../chain-client.ts';
import { parseRequestForm, readValidUntil } from '../request-form.ts';
import { isAddress } from './address.ts';
import { MAX_TRANSACTION, readPolicy } from './configuration/policy.ts';
import {
  clientGuardOptions,
  coSignerViolation,
  maySpendOwnFunds,
  policyViolation,
  spendsOwnFunds,
} from './guard/policies.ts';
import { type CompiledMessage, compileLegacyMessage, MalformedTransaction } from './message/compiled-message.ts';
import { computeBudgetFault } from './message/compute-budget.ts';
import { durableNonceOf } from './message/durable-nonce.ts';
import {
  decodeTransaction,
  isEmptySignature,
  isSignatureOf,
  transactionSize,
  type WireTransaction,
} from './message/transaction.ts';
import { SYSTEM_PROGRAM } from './programs.ts';
import { type SolanaRequest, toTransactionInstructions, type WireInstruction } from './schema.ts';
import { ownFundsSpend } from './spending.ts';

const MAX_INSTRUCTIONS = 64;
const MAX_ACCOUNTS = 64;

const key = z.string().refine(isAddress, 'expected 32 bytes in base58');

const instruction = strictObjectSchema({
  program_id: key.meta({ description: 'Program to call' }),
  accounts: z
    .array(strictObjectSchema({ pubkey: key, is_signer: z.boolean(), is_writable: z.boolean() }))
    .max(MAX_ACCOUNTS)
    .meta({ description: 'Accounts in the order that the program expects; only the relayer can sign' }),
  data: z
    .base64('expected base64')
    .refine((data) => Buffer.byteLength(data, 'base64') <= MAX_TRANSACTION, `expected at most ${MAX_TRANSACTION} bytes`)
    .meta({ description: 'Data of the instruction, in base64' }),
});

const idl = z.looseObject({
  errors: z
    .array(z.looseObject({ code: z.int().min(0), name: z.string().max(200), msg: z.string().max(500).optional() }))
    .max(1_000)
    .optional(),
});

/** The form of a send request. Fields that it does not list are refused. */
export const sendRequestSchema = strictObjectSchema(
  {
    transaction: z.string().nullish().meta({
      description: 'Legacy or version 0 transaction in base64; the relayer pays, and all other signers have signed',
    }),
    instructions: z.array(instruction).max(MAX_INSTRUCTIONS).nullish().meta({
      description: 'Instructions to send, in place of `transaction`',
    }),
    valid_until: z.string().nullish().meta({
      format: 'date-time',
      description: 'Latest time to get into a block (RFC 3339); after it the transaction expires',
    }),
    idl: idl.nullish().meta({
      description: 'Anchor IDL of the called program, to name its errors in the reason of a failure',
    }),
  },
  new Map([
    ['signers', 'the others sign before, in `transaction`'],
    ['recent_blockhash', 'a relayer takes the latest one'],
    ['fee_payer', 'the relayer pays'],
  ]),
);

type Body = z.output<typeof sendRequestSchema>;

/**
 * Checks a send request. Refuses what the account's policies forbid, as far as that shows without the network.
 * @throws AppError `INVALID_REQUEST`
 */
export function parseSendRequest(body: unknown, account: RelayerAccount, now: Timestamp): ParsedRequest {
  const form = parseRequestForm(sendRequestSchema, body);
  const instructions = form.instructions?.length === 0 ? null : (form.instructions ?? null);
  if ((form.transaction == null) === (instructions === null)) {
    throw invalidRequest('Either `transaction` or `instructions` must be given, and not both');
  }
  const validUntil = form.valid_until == null ? null : readValidUntil(form.valid_until, now);
  if (instructions !== null && readPolicy(account.policies).feePaymentStrategy === 'user')
    throw invalidRequest(UNBUILT);
  const parsed =
    instructions === null
      ? parseTransaction(form.transaction ?? '', account)
      : parseInstructions(instructions, account);
  return { ...parsed, request: { ...parsed.request, ...errorsOf(form) }, validUntil };
}

/** In the reference's words. Where users pay, the relayer builds the transaction first, with its payment in it. */
const UNBUILT =
  'User-paid fees require a pre-built transaction. Use prepareTransaction RPC method first to build the transaction from instructions.';

type Parsed = Omit<ParsedRequest, 'validUntil'>;

function parseTransaction(base64: string, account: RelayerAccount): Parsed {
  const transaction = readTransaction(base64, account);
  return {
    request: { transaction: base64, ...spendsOf(transaction.message, account) },
    contentKey: createHash('sha256').update(transaction.messageBytes).digest('hex'),
    ...fateOf(transaction),
    ...signedBefore(transaction),
  };
}

/**
 * The relayer's signature, where the transaction has it already. A client can post bytes that the relayer signed in a
 * renewal. Those bytes belong to the renewed transaction.
 */
function signedBefore({ message, messageBytes, signatures }: WireTransaction): Pick<ParsedRequest, 'signedAs'> {
  const [payer = ''] = message.keys;
  const [own = Buffer.alloc(0)] = signatures;
  return isSignatureOf(payer, own, messageBytes) ? { signedAs: toBase58(own) } : {};
}

/**
 * What can happen to the transaction's bytes. Under a durable nonce they stay valid until the nonce moves on. Otherwise
 * their blockhash gets too old, and a transaction that only the relayer signs can be signed anew. Bytes that the
 * relayer has signed before are never signed anew: whoever has them may have sent them.
 */
function fateOf({ message, messageBytes, signatures }: WireTransaction): Pick<ParsedRequest, 'anchorKind' | 'onDeath'> {
  if (durableNonceOf(message) !== undefined) return { anchorKind: 'text', onDeath: 'never' };
  const [payer = ''] = message.keys;
  const isSigned = isSignatureOf(payer, signatures[0] ?? Buffer.alloc(0), messageBytes);
  return { anchorKind: 'none', onDeath: message.signers === 1 && !isSigned ? 'renew' : 'end' };
}

/** What the request says of the relayer's own money. Nothing where its transaction can take only the fee. */
function spendsOf(message: CompiledMessage, { policies }: RelayerAccount): Pick<SolanaRequest, 'spends'> {
  const spends = spendsOwnFunds(message, readPolicy(policies)) ? ownFundsSpend(message) : undefined;
  return spends === undefined ? {} : { spends };
}

/**
 * Reads a transaction that a client sends, and checks it against the policies. Every signer but the relayer must have
 * signed it.
 * @throws AppError `INVALID_REQUEST`
 */
export function readTransaction(base64: string, account: RelayerAccount): WireTransaction {
  const transaction = readPartlySignedTransaction(base64, { ...account, maySpend: true });
  for (const [place, signature] of transaction.signatures.entries()) {
    if (place > 0 && isEmptySignature(signature)) {
      throw invalidRequest(`The signature of ${transaction.message.keys[place]} is missing`);
    }
  }
  return transaction;
}

/**
 * Reads a client's transaction and checks it against the policies. Signatures of others may be missing, but not wrong.
 * @throws AppError `INVALID_REQUEST`
 */
export function readPartlySignedTransaction(base64: string, account: RelayerAccount): WireTransaction {
  const transaction = wellFormed(() => decodeTransaction(base64));
  const { message } = transaction;
  const policy = readPolicy(account.policies);
  const guard = clientGuardOptions(message, policy, account.maySpend === true);
  const violation = policyViolation({ message, size: transactionSize(message) }, account.address, policy, guard);
  if (violation !== undefined) throw invalidRequest(violation);
  assertSound(transaction, account.address);
  return transaction;
}

/**
 * Reads a transaction of another fee payer, which the relayer is to sign as well. Undefined where it is none, or where
 * the relayer signs no such transaction: what it signs may spend what it holds.
 * @throws AppError `INVALID_REQUEST`
 */
export function readCoSignedTransaction(base64: string, account: RelayerAccount): CoSignedTransaction | undefined {
  const { address, policies, maySpend: isSpender = false } = account;
  const policy = readPolicy(policies);
  if (!isSpender || !maySpendOwnFunds(policy)) return undefined;
  const transaction = wellFormed(() => decodeTransaction(base64));
  const { message } = transaction;
  const place = message.keys.slice(0, message.signers).indexOf(address);
  if (place <= 0) return undefined;
  const violation = coSignerViolation({ message, size: transactionSize(message) }, address, policy);
  if (violation !== undefined) throw invalidRequest(violation);
  assertSound(transaction, address);
  return { transaction, place };
}

/** A transaction, and the relayer's place among its signers. */
export interface CoSignedTransaction {
  transaction: WireTransaction;
  place: number;
}

/** Refuses what the chain would refuse, as far as the message shows it. */
function assertTakable(message: CompiledMessage): void {
  const fault = computeBudgetFault(message);
  if (fault !== undefined) throw invalidRequest(fault);
}

/**
 * Refuses what the chain would refuse, and wrong signatures. Those of the relayer are made anew, and those of others
 * may be missing.
 */
function assertSound({ message, messageBytes, signatures }: WireTransaction, relayer: string): void {
  assertTakable(message);
  for (const [place, signature] of signatures.entries()) {
    const signer = message.keys[place] ?? '';
    if (signer === relayer || isEmptySignature(signature)) continue;
    if (!isSignatureOf(signer, signature, messageBytes)) throw invalidRequest(`The signature of ${signer} is wrong`);
  }
}

/** Turns a malformed transaction into a refusal of the client's request. */
function wellFormed<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof MalformedTransaction)) throw error;
    throw invalidRequest(error.message, error);
  }
}

/**
 * The message of some instructions, for checks only. Its blockhash is a stand-in, the System program's id: every
 * blockhash has the same length.
 */
export function messageForChecks(
  instructions: readonly WireInstruction[],
  { address }: RelayerAccount,
): CompiledMessage {
  return compileLegacyMessage({
    payer: address,
    instructions: toTransactionInstructions(instructions),
    blockhash: SYSTEM_PROGRAM,
  });
}

function parseInstructions(instructions: readonly WireInstruction[], account: RelayerAccount): Parsed {
  for (const [index, { accounts }] of instructions.entries()) {
    const stranger = accounts.find(({ pubkey, is_signer: isSigner }) => isSigner && pubkey !== account.address);
    if (stranger !== undefined) {
      throw invalidRequest(
        `invalid \`instructions.${index}\`: ${stranger.pubkey} cannot sign, only the relayer can; give \`transaction\``,
      );
    }
  }
  const message = wellFormed(() => messageForChecks(instructions, account));
  const size = transactionSize(message);
  if (size > MAX_TRANSACTION) {
    throw invalidRequest(
      `The instructions make a transaction of ${size} bytes, more than the ${MAX_TRANSACTION} of Solana`,
    );
  }
  const policy = readPolicy(account.policies);
  const violation = policyViolation(
    { message, size },
    account.address,
    policy,
    clientGuardOptions(message, policy, true),
  );
  if (violation !== undefined) throw invalidRequest(violation);
  assertTakable(message);
  const stored = instructions.map((one) => ({ ...one }));
  return {
    request: { instructions: stored, ...spendsOf(message, account) } satisfies SolanaRequest,
    contentKey: null,
    anchorKind: 'none',
    onDeath: 'renew',
  };
}

/** The errors that the request's IDL lists; nothing where it lists none. */
function errorsOf({ idl: given }: Body): Pick<SolanaRequest, 'errors'> {
  const errors = (given?.errors ?? []).map(({ code, name, msg }) => ({
    code,
    name,
    ...(msg === undefined ? {} : { msg }),
  }));
  return errors.length === 0 ? {} : { errors };
}

/** The body of sign-transaction. */
export const signOnlyRequestSchema = strictObjectSchema({
  transaction: z.string().meta({ description: 'Transaction that the relayer signs, in base64' }),
});
