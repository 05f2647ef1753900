/**
 * The form of a Solana transaction around its message, as far as a service needs it that signs whole transactions. First
 * come the signatures, then the message, which begins with a header and the accounts.
 * https://solana.com/docs/core/transactions
 */

const SIGNATURE = 64;
const KEY = 32;

/**
 * A transaction with empty signatures, and the place of the account's signature among them.
 * @throws Error when the bytes are no message of version 0 or before, or the account does not sign it
 */
export function unsignedTransaction(message: Buffer, account: Buffer): { transaction: Buffer; place: number } {
  const [first = 0xff] = message;
  // Version 0 has a byte before the header. Messages from before versions have none.
  const header = first === 0x80 ? 1 : 0;
  const needed = message[header] ?? 0;
  const { count, next } = compactAt(message, header + 3);
  if (first > 0x80 || needed === 0 || needed > count || next + count * KEY > message.length) {
    throw new Error('CDP signs transactions of Solana and texts, and no other bytes');
  }
  for (let place = 0; place < needed; place += 1) {
    const at = next + place * KEY;
    if (!message.subarray(at, at + KEY).equals(account)) continue;
    return { transaction: Buffer.concat([compact(needed), Buffer.alloc(needed * SIGNATURE), message]), place };
  }
  throw new Error('the transaction is not one that this account signs');
}

/** Whether bytes are a transaction that the account signs. */
export function isTransactionOf(bytes: Buffer, account: Buffer): boolean {
  try {
    return unsignedTransaction(bytes, account).place >= 0;
  } catch {
    return false;
  }
}

/** The signature at a place; empty where there is none. */
export function signatureIn(transaction: Buffer, place: number): Buffer {
  const { count, next } = compactAt(transaction, 0);
  return place < count
    ? transaction.subarray(next + place * SIGNATURE, next + (place + 1) * SIGNATURE)
    : Buffer.alloc(0);
}

/** Reads a number of up to 16 bits. Each byte has seven of them, the lowest first. */
function compactAt(bytes: Buffer, at: number): { count: number; next: number } {
  let count = 0;
  for (let index = 0; index < 3; index += 1) {
    const byte = bytes[at + index] ?? 0;
    count |= (byte & 0x7f) << (7 * index);
    if (byte < 0x80) return { count, next: at + index + 1 };
  }
  return { count: 0, next: at + 3 };
}

function compact(count: number): Buffer {
  return count < 0x80 ? Buffer.from([count]) : Buffer.from([(count & 0x7f) | 0x80, count >> 7]);
}
