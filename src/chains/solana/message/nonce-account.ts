import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import { addressOf } from '../address.ts';
import { SYSTEM_PROGRAM } from '../programs.ts';
import { accountsAt, type Commitment } from '../provider.ts';

/** Version, state, authority, value, fee (solana-nonce, `Versions`). */
const SIZE = 80;
const STATE_AT = 4;
const VALUE_AT = 40;
const KEY_LENGTH = 32;
const INITIALIZED = 1;

/** The value of a durable nonce as a blockhash; undefined where the account is not there, or is none. */
export async function nonceValue(read: ReadOne, address: string, commitment: Commitment): Promise<string | undefined> {
  const [account] = await accountsAt(read, [address], commitment);
  if (account == null || account.owner !== SYSTEM_PROGRAM || account.data.length !== SIZE) return undefined;
  if (account.data.readUInt32LE(STATE_AT) !== INITIALIZED) return undefined;
  return addressOf(account.data.subarray(VALUE_AT, VALUE_AT + KEY_LENGTH));
}
