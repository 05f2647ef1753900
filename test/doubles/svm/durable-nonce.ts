import { createHash } from 'node:crypto';
import { fromBase58, toBase58 } from './base58.ts';
import type { NativeAccount } from './native.ts';
import { SYSTEM } from './runtime.ts';
import { isWritable, type WireMessage } from './wire-transaction.ts';

const ADVANCE = 4;
const SIZE = 80;
const NONCE_AT = 40;

export interface NonceUse {
  account: string;
  /** The accounts of the advance instruction that have signed. */
  signers: string[];
}

/** The nonce account of a message whose first instruction advances it. */
export function nonceUseOf(message: WireMessage): NonceUse | undefined {
  const [first] = message.instructions;
  if (first === undefined || message.keys[first.program] !== SYSTEM) return undefined;
  const [account] = first.accounts;
  if (first.data.length < 4 || Buffer.from(first.data).readUInt32LE(0) !== ADVANCE || account === undefined) {
    return undefined;
  }
  const key = message.keys[account];
  if (key === undefined || !isWritable(message, account)) return undefined;
  const signers = first.accounts.filter((index) => index < message.signers);
  return { account: key, signers: signers.map((index) => String(message.keys[index])) };
}

/** The contents of a nonce account; undefined for another account. */
export function nonceOf(account: NativeAccount | null): { authority: string; value: string } | undefined {
  if (account === null || toBase58(account.owner()) !== SYSTEM) return undefined;
  const data = Buffer.from(account.data());
  if (data.length !== SIZE || data.readUInt32LE(0) !== 1 || data.readUInt32LE(4) !== 1) return undefined;
  return {
    authority: toBase58(data.subarray(8, NONCE_AT)),
    value: toBase58(data.subarray(NONCE_AT, NONCE_AT + 32)),
  };
}

/** The value that an advance stores in the child of a block with this hash. */
export function durableNonce(blockhash: string): string {
  const hash = createHash('sha256').update('DURABLE_NONCE');
  return toBase58(hash.update(fromBase58(blockhash) ?? new Uint8Array()).digest());
}

/** The data of a nonce account with another value. */
export function withNonce(account: NativeAccount, value: string): Uint8Array {
  const data = Buffer.from(account.data());
  data.set(fromBase58(value) ?? [], NONCE_AT);
  return data;
}
