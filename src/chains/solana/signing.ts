import { ComputeBudgetProgram } from '@solana/web3.js';
import { z } from 'zod';
import { amountOf, amountSchema, jsonAmount } from '../../domain/amount.ts';
import { toBase58 } from '../../domain/base58.ts';
import { AppError, invalidRequest } from '../../domain/errors.ts';
import { strictObjectSchema } from '../../domain/json/issue-text.ts';
import type { JsonObject, WireObject } from '../../domain/json/json.ts';
import type { Signer } from '../../signers/signer.ts';
import type { RelayerAccount, SignedBytes } from '../chain-client.ts';
import { parseRequestForm } from '../request-form.ts';
import { addressBytes, addressOfPublicKey } from './address.ts';
import { MAX_COMPUTE_UNITS } from './fees.ts';
import { type CompiledMessage, decodeMessage, encodeMessage } from './message/compiled-message.ts';
import { readComputeBudget } from './message/compute-budget.ts';
import { encodeTransaction } from './message/transaction.ts';
import { COMPUTE_BUDGET_PROGRAM } from './programs.ts';
import { readChainFields, type SolanaFields } from './schema.ts';

/**
 * Signs a message as one of its signers.
 * @param signatures by place; the account's own is ignored
 * @param place the account's place among the signers; the first pays for the transaction
 * @returns base64 of the whole transaction, and the account's signature. The chain knows a transaction by the signature
 * of who pays for it
 * @throws AppError `SIGNER_FAILED`, also when the signer's key is not the account's
 */
export async function signMessageAs(
  account: string,
  message: Uint8Array,
  signatures: readonly Uint8Array[],
  signer: Signer,
  place = 0,
): Promise<{ transaction: string; signature: string }> {
  const address = addressOfPublicKey(await signer.publicKey('ed25519'));
  if (address !== account) {
    throw new AppError('SIGNER_FAILED', { id: signer.id, reason: `its key is that of ${address}, not of ${account}` });
  }
  const signature = await signer.sign('ed25519', message);
  return {
    transaction: encodeTransaction(signatures.with(place, signature), message),
    signature: toBase58(signature),
  };
}

/** Signs a prepared transaction. */
export async function signTransaction(prepared: JsonObject, signer: Signer): Promise<SignedBytes> {
  const fields = readChainFields(prepared);
  if (fields === undefined) throw new TypeError('a transaction is prepared before it is signed');
  const bytes = Buffer.from(fields.message, 'base64');
  const [payer = ''] = decodeMessage(bytes).keys;
  const others = fields.signatures.map((signature) => Buffer.from(signature, 'base64'));
  const { transaction, signature } = await signMessageAs(payer, bytes, others, signer);
  return { raw: transaction, hash: signature, fields: { ...fields, transaction } satisfies SolanaFields };
}

/**
 * Adds one compute unit to prepared fields, which costs next to nothing. This keeps two equal requests apart: equal
 * bytes are one transaction. Messages that others signed, and messages without a limit, stay as they are.
 */
export function withDistinctBytes(prepared: JsonObject): JsonObject {
  const fields = readChainFields(prepared);
  if (fields === undefined || fields.signatures.length > 1 || isFixed(fields)) return prepared;
  const message = variedLimit(decodeMessage(Buffer.from(fields.message, 'base64')));
  if (message === undefined) return prepared;
  return { ...fields, message: encodeMessage(message).toString('base64') } satisfies SolanaFields;
}

/** The fields of a transaction that is to be signed anew: the price that was not enough for the last attempt. */
export function renewedFields(prepared: JsonObject): JsonObject {
  const fields = readChainFields(prepared);
  if (fields === undefined) return {};
  const { price = 0n } = readComputeBudget(decodeMessage(Buffer.from(fields.message, 'base64')));
  return { last_price: jsonAmount(price) };
}

/** The price that {@link renewedFields} has kept; undefined for a first attempt. */
export function lastPriceOf(fields: JsonObject): bigint | undefined {
  const { data } = renewedSchema.safeParse(fields);
  return data === undefined ? undefined : amountOf(data.last_price);
}

const renewedSchema = z.strictObject({ last_price: amountSchema(64) });

/**
 * Whether the bytes must stay: the relayer has signed them before, or the market brings these very bytes to the chain.
 */
function isFixed({ is_signed: isSigned, swap }: SolanaFields): boolean {
  return isSigned === true || swap?.request_id !== undefined;
}

/** The message with one more unit in its limit; undefined where it names no limit, or the highest. */
function variedLimit(message: CompiledMessage): CompiledMessage | undefined {
  const { limit } = readComputeBudget(message);
  if (limit === undefined || limit >= MAX_COMPUTE_UNITS) return undefined;
  const [before, after] = [limit, limit + 1].map((units) => ComputeBudgetProgram.setComputeUnitLimit({ units }).data);
  const instructions = message.instructions.map((one) => {
    const isLimit = message.keys[one.program] === COMPUTE_BUDGET_PROGRAM && before?.equals(one.data) === true;
    return isLimit && after !== undefined ? { ...one, data: after } : one;
  });
  return { ...message, instructions };
}

/**
 * {@link import('../chain-client.ts').ReadyPreparation.cost} of prepared fields; zero before a transaction is prepared.
 */
export function preparedCostOf(prepared: JsonObject): bigint {
  const fields = readChainFields(prepared);
  if (fields === undefined) return 0n;
  return amountOf(fields.fee) + amountOf(fields.rent ?? 0) + amountOf(fields.spent ?? 0);
}

/** The beginning of every signed text. No transaction begins with 0xff, so no signed text is a transaction. */
const SIGNING_DOMAIN = Buffer.from('\xffsolana offchain', 'latin1');
const VERSION = 0;
/** Zeros: no application in particular. */
const APPLICATION_DOMAIN = Buffer.alloc(32);
const FORMAT_ASCII = 0;
const FORMAT_UTF8 = 1;

/**
 * The longest text that a hardware wallet shows, in bytes: a packet without the header (Solana, "Off-Chain Message
 * Signing").
 */
const LONGEST = 1_212;

const schema = strictObjectSchema({
  // Half of a surrogate pair has no UTF-8 form: the signed text would differ from the sent one.
  message: z.string().refine((text) => text.isWellFormed(), 'expected a text that UTF-8 can hold'),
});

/**
 * Signs a text as an off-chain message of version 0, so that it can never be taken for a transaction. A service that
 * takes texts and no bytes signs the text as it is, where the text is no transaction of the account.
 * @throws AppError `INVALID_REQUEST`, `SIGNER_FAILED`
 */
export async function signMessage(body: unknown, { address }: RelayerAccount, signer: Signer): Promise<WireObject> {
  const { message } = parseRequestForm(schema, body);
  const bytes = offChainMessage(message, address);
  const { signText } = signer;
  const own = addressOfPublicKey(await signer.publicKey('ed25519'));
  if (own !== address) {
    throw new AppError('SIGNER_FAILED', { id: signer.id, reason: `its key is that of ${own}, not of ${address}` });
  }
  const signature = signText === undefined ? signer.sign('ed25519', bytes) : signText(message);
  return { signature: toBase58(await signature), public_key: address };
}

/** The bytes that are signed for a text. */
function offChainMessage(text: string, address: string): Buffer {
  const message = Buffer.from(text, 'utf8');
  if (message.length === 0) throw invalidRequest('invalid `message`: expected a text that is not empty');
  if (message.length > LONGEST) throw invalidRequest(`invalid \`message\`: expected at most ${LONGEST} bytes`);
  const length = Buffer.alloc(2);
  length.writeUInt16LE(message.length);
  const format = /^[\x20-\x7e]*$/.test(text) ? FORMAT_ASCII : FORMAT_UTF8;
  return Buffer.concat([
    SIGNING_DOMAIN,
    Buffer.from([VERSION]),
    APPLICATION_DOMAIN,
    Buffer.from([format, 1]),
    addressBytes(address),
    length,
    message,
  ]);
}
