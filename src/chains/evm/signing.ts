import { hash } from 'node:crypto';
import { z } from 'zod';
import { amountOf } from '../../domain/amount.ts';
import { AppError } from '../../domain/errors.ts';
import type { JsonObject, WireObject } from '../../domain/json/json.ts';
import type { Transaction } from '../../features/transactions/records/transaction.ts';
import type { Signer } from '../../signers/signer.ts';
import type { RelayerAccount, SignedBytes } from '../chain-client.ts';
import { parseRequestForm } from '../request-form.ts';
import { addressOfPublicKey, normalAddress } from './address.ts';
import { rlpAccessList } from './form/access-list.ts';
import { rlpAuthorizationList } from './form/authorization.ts';
import { encodeRlp, type RlpItem, rlpInteger } from './form/rlp.ts';
import { typedDataDigest } from './form/typed-data.ts';
import { toData } from './rpc-calls.ts';
import {
  type EvmFields,
  type EvmRequest,
  type EvmSignature,
  readChainFields,
  readStoredRequest,
  storedFields,
} from './schema.ts';

/**
 * Signs a prepared transaction under a nonce. The two fees of EIP-1559 make it type 2, or type 4 (EIP-7702) if it has
 * authorizations. A gas price makes it a legacy transaction bound to the chain (EIP-155), or type 1 (EIP-2930) if it
 * has an access list.
 * @throws AppError `SIGNER_FAILED`, also when the signer's key is not the account's
 */
export async function signTransaction(
  transaction: Pick<Transaction, 'request'>,
  prepared: JsonObject,
  sequence: bigint,
  signer: Signer,
): Promise<SignedBytes> {
  const fields = readChainFields(prepared);
  if (fields === undefined) throw new TypeError('a transaction is prepared before it is signed');
  const form = formOf(readStoredRequest(transaction.request), fields, sequence);

  const { r, s, yParity } = await signDigestForAccount(keccak(form.unsigned()), fields.from, signer);
  const raw = form.signed(rlpInteger(BigInt(`0x${r}`)), rlpInteger(BigInt(`0x${s}`)), yParity);
  const signature = signatureView(r, s, form.shownV + yParity);
  return {
    raw,
    hash: `0x${keccak(raw).toString('hex')}`,
    fields: storedFields({ ...fields, signature }),
  };
}

/** The bytes that would be signed, in hexadecimal. Chains that publish their data elsewhere charge for their size. */
export function unsignedBytes(transaction: Pick<Transaction, 'request'>, fields: EvmFields, sequence: bigint): string {
  return formOf(readStoredRequest(transaction.request), fields, sequence).unsigned();
}

/** A signature over 32 bytes: 64 hexadecimal digits each, s low (EIP-2), and the parity of the curve point's y. */
export interface DigestSignature {
  r: string;
  s: string;
  yParity: 0 | 1;
}

/**
 * Signs 32 bytes as an account.
 * @throws AppError `SIGNER_FAILED`, also when the signer's key is not the account's
 */
export async function signDigestForAccount(
  digest: Uint8Array,
  account: string,
  signer: Signer,
): Promise<DigestSignature> {
  const address = await accountOf(signer);
  if (address !== normalAddress(account)) {
    throw new AppError('SIGNER_FAILED', { id: signer.id, reason: `its key is that of ${address}, not of ${account}` });
  }
  // The signer has proved that the signature leads back to its public key, and so to the account.
  const signed = Buffer.from(await signer.sign('secp256k1', digest));
  return {
    r: signed.toString('hex', 0, 32),
    s: signed.toString('hex', 32, 64),
    yParity: signed[64] === 1 ? 1 : 0,
  };
}

const accounts = new WeakMap<Signer, string>();

/** The account of a signer's key, which stays the same as long as the signer lives. */
async function accountOf(signer: Signer): Promise<string> {
  const known = accounts.get(signer);
  if (known !== undefined) return known;
  const account = addressOfPublicKey(await signer.publicKey('secp256k1'));
  accounts.set(signer, account);
  return account;
}

/** A signature as answers show it, without `0x`; `sig` is the other three in one. */
export function signatureView(r: string, s: string, v: number): EvmSignature {
  return { r, s, v, sig: `${r}${s}${v.toString(16).padStart(2, '0')}` };
}

/** The bytes of one kind of transaction, before and after its signature, in hexadecimal. */
interface Form {
  unsigned(): string;
  signed(r: string, s: string, yParity: 0 | 1): string;
  /** What answers add to the parity for `v`. */
  shownV: 0 | 27;
}

function formOf(request: EvmRequest, fields: EvmFields, sequence: bigint): Form {
  const to = request.to === null ? '0x' : normalAddress(request.to);
  const call = [rlpInteger(amountOf(fields.gas_limit)), to, rlpInteger(request.value), toData(request.data)];
  const accessList = rlpAccessList(request.accessList);
  const authorizations = rlpAuthorizationList(request.authorizationList);
  const chainId = amountOf(fields.chain_id);
  const head = [rlpInteger(chainId), rlpInteger(sequence)];
  const { max_fee_per_gas: maxFee, max_priority_fee_per_gas: priorityFee, gas_price: gasPrice } = fields;

  if (maxFee !== undefined && priorityFee !== undefined) {
    const list = [...head, rlpInteger(amountOf(priorityFee)), rlpInteger(amountOf(maxFee)), ...call, accessList];
    return authorizations.length === 0 ? typedForm('02', list) : typedForm('04', [...list, authorizations]);
  }
  // Without this check, a transaction without a price would be signed at zero.
  if (gasPrice === undefined) throw new TypeError('a prepared transaction has a price');
  if (authorizations.length > 0) throw new TypeError('a transaction with authorizations has the two fees of EIP-1559');
  const price = rlpInteger(amountOf(gasPrice));
  if (accessList.length > 0) return typedForm('01', [...head, price, ...call, accessList]);
  return legacyForm([rlpInteger(sequence), price, ...call], chainId);
}

/** EIP-2718: a byte for the type, then the list. */
function typedForm(type: '01' | '02' | '04', list: readonly RlpItem[]): Form {
  const encode = (items: RlpItem[]) => `0x${type}${encodeRlp(items).slice(2)}`;
  return {
    unsigned: () => encode([...list]),
    signed: (r, s, yParity) => encode([...list, rlpInteger(BigInt(yParity)), r, s]),
    shownV: 0,
  };
}

function legacyForm(list: readonly RlpItem[], chainId: bigint): Form {
  return {
    unsigned: () => encodeRlp([...list, rlpInteger(chainId), '0x', '0x']),
    signed: (r, s, yParity) => encodeRlp([...list, rlpInteger(chainId * 2n + 35n + BigInt(yParity)), r, s]),
    shownV: 27,
  };
}

function keccak(data: string): Buffer {
  return hash('keccak-256', Buffer.from(data.slice(2), 'hex'), 'buffer');
}

const messageSchema = z.strictObject({
  // Half of a surrogate pair has no UTF-8. Other bytes would be signed than were sent.
  message: z.string().refine((text) => text.isWellFormed(), 'expected a text that UTF-8 can hold'),
});

/**
 * Signs the UTF-8 bytes of a text as a personal message (EIP-191, version `E`). `0x` at the start has no special
 * meaning.
 * @throws AppError `INVALID_REQUEST`, `SIGNER_FAILED`
 */
export async function signMessage(body: unknown, account: RelayerAccount, signer: Signer): Promise<WireObject> {
  const message = Buffer.from(parseRequestForm(messageSchema, body).message, 'utf8');
  const prefix = Buffer.from(`\u0019Ethereum Signed Message:\n${message.length}`, 'utf8');
  return signed(hash('keccak-256', Buffer.concat([prefix, message]), 'buffer'), account, signer);
}

/**
 * Signs typed data (EIP-712), given as its two digests or as a whole.
 * @throws AppError `INVALID_REQUEST`, `SIGNER_FAILED`
 */
export async function signTypedData(body: unknown, account: RelayerAccount, signer: Signer): Promise<WireObject> {
  return signed(typedDataDigest(body), account, signer);
}

async function signed(digest: Uint8Array, account: RelayerAccount, signer: Signer): Promise<WireObject> {
  const { r, s, yParity } = await signDigestForAccount(digest, account.address, signer);
  return { ...signatureView(r, s, 27 + yParity) };
}
