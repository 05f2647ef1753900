import { VersionedTransaction } from '@solana/web3.js';
import type { AnswerBody } from '../../../../support/service.ts';
import { type AskedInstruction, memo } from '../../../../support/solana-stage.ts';
import type { Shown } from '../chain.ts';

const SYSTEM = '1'.repeat(32);
const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';
export const MEMO = memo('').program_id;
const TRANSFER = 2;

interface Call {
  program: string;
  accounts: readonly string[];
  data: Buffer;
}

/** The mark of a memo. */
export function markOfMemo(text: string): string {
  return `memo ${text}`;
}

/** The mark of a transfer of lamports. */
export function markOfTransfer(to: string, lamports: bigint): string {
  return `${lamports} to ${to}`;
}

/** The mark of a serialized transaction. Ignores instructions of the compute budget. */
export function markOfBytes(bytes: Uint8Array): string {
  const { message } = VersionedTransaction.deserialize(bytes);
  const keys = message.staticAccountKeys.map((key) => key.toBase58());
  const calls = message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
    program: keys[programIdIndex] ?? '',
    accounts: accountKeyIndexes.map((index) => keys[index] ?? ''),
    data: Buffer.from(data),
  }));
  return markOf(calls);
}

/** A transaction as the API shows it. */
export function readShown(shown: AnswerBody): Shown {
  const { id, status, status_reason: reason = null, signature = null, transaction, instructions } = shown;
  const bytes = Buffer.from(transaction, 'base64');
  return {
    id,
    status,
    reason,
    hash: signature,
    effect: bytes.length > 0 ? markOfBytes(bytes) : markOf((instructions as AskedInstruction[]).map(callOf)),
    anchor: null,
    bytes: signature === null ? null : transaction,
  };
}

function callOf({ program_id: program, accounts, data }: AskedInstruction): Call {
  return { program, accounts: accounts.map(({ pubkey }) => pubkey), data: Buffer.from(data, 'base64') };
}

function markOf(calls: readonly Call[]): string {
  return calls
    .filter(({ program }) => program !== COMPUTE_BUDGET)
    .map(markOfCall)
    .join(' and ');
}

function markOfCall({ program, accounts, data }: Call): string {
  if (program === MEMO) return markOfMemo(data.toString('utf8'));
  if (program === SYSTEM && data.readUInt32LE() === TRANSFER) {
    return markOfTransfer(accounts[1] ?? 'nobody', data.readBigUInt64LE(4));
  }
  return `${program} ${accounts.join(' ')} ${data.toString('hex')}`;
}
