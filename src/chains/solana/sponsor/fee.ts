import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import type { SolanaPolicy } from '../configuration/policy.ts';
import { feeOf } from '../fees.ts';
import { encodeMessage, type Message } from '../message/compiled-message.ts';
import { rentPaid } from '../tokens/associated.ts';
import { Refusal } from './errors.ts';

/**
 * What the relayer is to be paid for a transaction, in lamports: the network's fee, the rent of accounts that it pays
 * for, and the margin on both. What others paid for priority is no part of it: nothing is paid but what the message says.
 * @throws Refusal where that is more than the policies allow
 */
export async function priceOf(
  read: ReadOne,
  message: Message,
  keys: readonly string[],
  { feeMargin, maxFee }: SolanaPolicy,
): Promise<bigint> {
  const [fee, rent] = await Promise.all([feeOf(read, message, encodeMessage(message)), rentPaid(read, message, keys)]);
  const price = withMargin(fee + rent, feeMargin);
  if (maxFee !== null && price > maxFee) {
    throw new Refusal('validation', `Policy violation: Fee amount ${price} exceeds max allowed fee amount ${maxFee}`);
  }
  return price;
}

/** A percentage is of 32 bits, as in the reference; what is less than a lamport is dropped. */
function withMargin(lamports: bigint, percent: number): bigint {
  return BigInt(Math.trunc(Number(lamports) * (1 + Math.fround(percent) / 100)));
}
