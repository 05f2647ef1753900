import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import type { SolanaPolicy } from '../configuration/policy.ts';
import { feeOf } from '../fees.ts';
import { encodeMessage, type Message } from '../message/compiled-message.ts';
import { rentPaid } from '../tokens/associated.ts';
import { Refusal } from './errors.ts';

/**
 * What the relayer is to be paid for a transaction, in lamports: the network's fee, the rent of accounts that it pays
 * for, and the margin on both. Recent priority prices do not count: the fee depends on the message only.
 * @throws Refusal where the price is more than the policies allow
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

/** Adds the margin. Its percentage is rounded to 32 bits, as in the reference; fractions of a lamport are dropped. */
function withMargin(lamports: bigint, percent: number): bigint {
  return BigInt(Math.trunc(Number(lamports) * (1 + Math.fround(percent) / 100)));
}
