import { hash } from 'node:crypto';
import { encodeRlp, type RlpStructuredData } from 'ethers';
import { amountOf } from '../../domain/amount.ts';
import { AppError } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Transaction } from '../../domain/transaction.ts';
import type { Signer } from '../../signers/signer.ts';
import type { SignedVersion } from '../chain.ts';
import { addressOf, normalAddress } from './address.ts';
import { toData } from './provider.ts';
import { type EvmFields, readFields, readRequest } from './schema.ts';

/**
 * Signs a prepared transaction under a nonce: a type 2 transaction (EIP-1559) when it has its two fees, else a legacy
 * one bound to the chain (EIP-155).
 * @throws AppError `SIGNER_FAILED`, also when the signer's key is not the account's
 */
export async function signTransaction(
  transaction: Transaction,
  prepared: JsonObject,
  sequence: bigint,
  signer: Signer,
): Promise<SignedVersion> {
  const fields = readFields(prepared);
  if (fields === undefined) throw new TypeError('a transaction is prepared before it is signed');
  const form = formOf(transaction, fields, sequence);
  await assertKeyOf(signer, fields.from);

  // The signer has proved that the signature leads back to its public key, and so to the sender.
  const signed = Buffer.from(await signer.sign('secp256k1', keccak(form.unsigned())));
  const r = signed.toString('hex', 0, 32);
  const s = signed.toString('hex', 32, 64);
  const yParity = signed[64] === 1 ? 1n : 0n;
  const v = Number(form.shownV + yParity);
  const raw = form.signed(yParity, integer(BigInt(`0x${r}`)), integer(BigInt(`0x${s}`)));
  const signature = { r, s, v, sig: `${r}${s}${v.toString(16).padStart(2, '0')}` };
  return {
    raw,
    hash: `0x${keccak(raw).toString('hex')}`,
    fields: { ...fields, signature } satisfies EvmFields as JsonObject,
  };
}

/** What would be signed, in hexadecimal: the size of it costs on chains that publish their data elsewhere. */
export function unsignedBytes(transaction: Pick<Transaction, 'request'>, fields: EvmFields, sequence: bigint): string {
  return formOf(transaction, fields, sequence).unsigned();
}

async function assertKeyOf(signer: Signer, account: string): Promise<void> {
  const address = addressOf(await signer.publicKey('secp256k1'));
  if (address === normalAddress(account)) return;
  throw new AppError('SIGNER_FAILED', { id: signer.id, reason: `its key is that of ${address}, not of ${account}` });
}

/** The bytes of one kind of transaction, before and after its signature, in hexadecimal. */
interface Form {
  unsigned(): string;
  signed(yParity: bigint, r: string, s: string): string;
  /** What answers add to the parity for `v`. */
  shownV: bigint;
}

function formOf(transaction: Pick<Transaction, 'request'>, fields: EvmFields, sequence: bigint): Form {
  const request = readRequest(transaction.request);
  const to = request.to === null ? '0x' : normalAddress(request.to);
  const call = [integer(amountOf(fields.gas_limit)), to, integer(request.value), toData(request.data)];
  const chainId = amountOf(fields.chain_id);
  const nonce = integer(sequence);
  const { max_fee_per_gas: maxFee, max_priority_fee_per_gas: priorityFee, gas_price: gasPrice } = fields;

  if (maxFee !== undefined && priorityFee !== undefined) {
    const prices = [integer(amountOf(priorityFee)), integer(amountOf(maxFee))];
    return eip1559Form([integer(chainId), nonce, ...prices, ...call, []]);
  }
  // Without any price it would be signed at zero.
  if (gasPrice === undefined) throw new TypeError('a prepared transaction has a price');
  return legacyForm([nonce, integer(amountOf(gasPrice)), ...call], chainId);
}

function eip1559Form(list: readonly RlpStructuredData[]): Form {
  const encode = (items: RlpStructuredData[]) => `0x02${encodeRlp(items).slice(2)}`;
  return {
    unsigned: () => encode([...list]),
    signed: (yParity, r, s) => encode([...list, integer(yParity), r, s]),
    shownV: 0n,
  };
}

function legacyForm(list: readonly RlpStructuredData[], chainId: bigint): Form {
  return {
    unsigned: () => encodeRlp([...list, integer(chainId), '0x', '0x']),
    signed: (yParity, r, s) => encodeRlp([...list, integer(chainId * 2n + 35n + yParity), r, s]),
    shownV: 27n,
  };
}

/** An integer as RLP has it: big endian, without leading zeros, zero as nothing. */
function integer(value: bigint): string {
  if (value === 0n) return '0x';
  const digits = value.toString(16);
  return `0x${digits.length % 2 === 0 ? '' : '0'}${digits}`;
}

function keccak(data: string): Buffer {
  return hash('keccak-256', Buffer.from(data.slice(2), 'hex'), 'buffer');
}
