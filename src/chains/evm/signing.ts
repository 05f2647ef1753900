import { Transaction as EthersTransaction, getBytes, Signature } from 'ethers';
import { amountOf, type JsonAmount } from '../../domain/amount.ts';
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
  const unsigned = assemble(transaction, fields, sequence);
  await assertKeyOf(signer, fields.from);

  // The signer has proved that the signature leads back to its public key, and so to the sender.
  const bytes = await signer.sign('secp256k1', getBytes(unsigned.unsignedHash));
  const signed = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const yParity = signed[64] === 1 ? 1 : 0;
  const r = signed.toString('hex', 0, 32);
  const s = signed.toString('hex', 32, 64);
  unsigned.signature = Signature.from({ r: `0x${r}`, s: `0x${s}`, yParity });
  const v = unsigned.type === 2 ? yParity : 27 + yParity;
  const signature = { r, s, v, sig: `${r}${s}${v.toString(16).padStart(2, '0')}` };
  return {
    raw: unsigned.serialized,
    hash: String(unsigned.hash),
    fields: { ...fields, signature } satisfies EvmFields as JsonObject,
  };
}

async function assertKeyOf(signer: Signer, account: string): Promise<void> {
  const address = addressOf(await signer.publicKey('secp256k1'));
  if (address === normalAddress(account)) return;
  throw new AppError('SIGNER_FAILED', { id: signer.id, reason: `its key is that of ${address}, not of ${account}` });
}

function assemble(transaction: Transaction, fields: EvmFields, sequence: bigint): EthersTransaction {
  const request = readRequest(transaction.request);
  const assembled = new EthersTransaction();
  assembled.chainId = amountOf(fields.chain_id);
  assembled.nonce = Number(sequence);
  assembled.gasLimit = amountOf(fields.gas_limit);
  assembled.to = request.to === null ? null : normalAddress(request.to);
  assembled.value = request.value;
  assembled.data = toData(request.data);
  if (fields.max_fee_per_gas === undefined || fields.max_priority_fee_per_gas === undefined) {
    assembled.type = 0;
    assembled.gasPrice = requiredAmount(fields.gas_price);
  } else {
    assembled.type = 2;
    assembled.maxFeePerGas = amountOf(fields.max_fee_per_gas);
    assembled.maxPriorityFeePerGas = amountOf(fields.max_priority_fee_per_gas);
  }
  return assembled;
}

/** A transaction without any price would be signed at zero. */
function requiredAmount(amount: JsonAmount | undefined): bigint {
  if (amount === undefined) throw new TypeError('a prepared transaction has a price');
  return amountOf(amount);
}
