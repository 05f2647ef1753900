import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import { addressOf } from '../address.ts';
import { SYSTEM_PROGRAM } from '../programs.ts';
import { accountsAsOf, type Commitment } from '../provider.ts';

/** The layout of a nonce account: version, state, authority, value, fee (solana-nonce, `Versions`). */
const SIZE = 80;
const STATE_AT = 4;
const VALUE_AT = 40;
const KEY_LENGTH = 32;
const INITIALIZED = 1;

/** A durable nonce as a node knows it. */
export interface NonceState {
  /** The slot that the answer is for. */
  slot: bigint;
  /** In the form of a blockhash; undefined where the account does not exist or holds no nonce. */
  value: string | undefined;
}

export async function nonceState(read: ReadOne, address: string, commitment: Commitment): Promise<NonceState> {
  const { slot, accounts } = await accountsAsOf(read, [address], commitment);
  const [account] = accounts;
  if (account == null || account.owner !== SYSTEM_PROGRAM || account.data.length !== SIZE) {
    return { slot, value: undefined };
  }
  const isInitialized = account.data.readUInt32LE(STATE_AT) === INITIALIZED;
  return { slot, value: isInitialized ? addressOf(account.data.subarray(VALUE_AT, VALUE_AT + KEY_LENGTH)) : undefined };
}
