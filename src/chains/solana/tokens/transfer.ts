import { SystemProgram, TransactionInstruction } from '@solana/web3.js';
import { publicKeyOf } from '../message/compiled-message.ts';
import { SYSTEM_PROGRAM } from '../programs.ts';
import type { Mint } from './mint.ts';

/** The System program's Transfer, and its Transfer out of a derived account (solana-system-interface). */
const SYSTEM_TRANSFER = 2;
const SYSTEM_TRANSFER_WITH_SEED = 11;
/** The Token program's TransferChecked, which Token-2022 has as well. */
const TRANSFER_CHECKED = 12;

/** @throws RangeError for an amount that does not fit into 64 bits */
export function lamportsTransfer(from: string, to: string, lamports: bigint): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: publicKeyOf(from), toPubkey: publicKeyOf(to), lamports });
}

/** A transfer between token accounts; the amount is in the token's smallest unit. */
export interface CheckedTransfer {
  mint: Mint;
  source: string;
  destination: string;
  /** Who owns the tokens, or may move them. */
  authority: string;
  amount: bigint;
}

/** @throws RangeError for an amount that does not fit into 64 bits */
export function tokensTransfer({
  mint,
  source,
  destination,
  authority,
  amount,
}: CheckedTransfer): TransactionInstruction {
  const data = Buffer.alloc(10);
  data.writeUInt8(TRANSFER_CHECKED);
  data.writeBigUInt64LE(amount, 1);
  data.writeUInt8(mint.decimals, 9);
  return new TransactionInstruction({
    programId: publicKeyOf(mint.program),
    keys: [
      { pubkey: publicKeyOf(source), isSigner: false, isWritable: true },
      { pubkey: publicKeyOf(mint.address), isSigner: false, isWritable: false },
      { pubkey: publicKeyOf(destination), isSigner: false, isWritable: true },
      { pubkey: publicKeyOf(authority), isSigner: true, isWritable: false },
    ],
    data,
  });
}

/**
 * Where an instruction moves lamports to, and how many; undefined for one that moves none. As the runtime reads it:
 * whatever follows the amount.
 */
export function readLamportsTransfer(
  program: string,
  named: readonly string[],
  data: Buffer,
): { from: string | undefined; to: string | undefined; lamports: bigint } | undefined {
  if (program !== SYSTEM_PROGRAM || data.length < 12) return undefined;
  const kind = data.readUInt32LE();
  if (kind !== SYSTEM_TRANSFER && kind !== SYSTEM_TRANSFER_WITH_SEED) return undefined;
  const [from, second, third] = named;
  return { from, to: kind === SYSTEM_TRANSFER ? second : third, lamports: data.readBigUInt64LE(4) };
}
