import { NONCE_ACCOUNT_LENGTH, NonceAccount } from '@solana/web3.js';
import type { ReadFromEndpoint } from '../../../egress/rpc/rpc-client.ts';
import { SYSTEM_PROGRAM } from '../programs.ts';
import { type Commitment, getAccountsWithSlot } from '../rpc-calls.ts';
import { type CompiledMessage, isWritableAccount } from './compiled-message.ts';

/** A message that stays good until its nonce is advanced, instead of for 150 blocks. */
export interface DurableNonce {
  /** The account that holds the nonce. */
  account: string;
  /** Who may advance it. */
  authority: string;
  /** The value that the account must hold when the message is executed. It stands in the place of the blockhash. */
  value: string;
}

/** The System program's AdvanceNonceAccount, as 32 bits. */
const ADVANCE_NONCE_ACCOUNT = Buffer.from([4, 0, 0, 0]);

/**
 * The durable nonce of a message, as the runtime finds it (agave, `get_durable_nonce`). The first instruction has to
 * advance a nonce, whatever follows in its data. The nonce account has to be writable and among the static keys
 * (SIMD-0242).
 */
export function durableNonceOf(message: CompiledMessage): DurableNonce | undefined {
  const { keys, blockhash, instructions } = message;
  const [first] = instructions;
  if (first === undefined || keys[first.program] !== SYSTEM_PROGRAM) return undefined;
  if (!first.data.subarray(0, 4).equals(ADVANCE_NONCE_ACCOUNT)) return undefined;

  // The account between these two is the sysvar of recent blockhashes.
  const [place = -1, , authorityPlace = -1] = first.accounts;
  const account = keys[place];
  const authority = keys[authorityPlace];
  if (account === undefined || authority === undefined || !isWritableAccount(message, place)) return undefined;
  return { account, authority, value: blockhash };
}

/** Where a nonce account says that it holds a nonce (solana-nonce, `Versions`); the package does not look. */
const STATE_AT = 4;
const INITIALIZED = 1;

/** A durable nonce as a node knows it. */
export interface DurableNonceState {
  /** The slot that the answer is for. */
  slot: bigint;
  /** In the form of a blockhash; undefined where the account does not exist or holds no nonce. */
  value: string | undefined;
}

export async function getDurableNonceState(
  read: ReadFromEndpoint,
  address: string,
  commitment: Commitment,
): Promise<DurableNonceState> {
  const { slot, accounts } = await getAccountsWithSlot(read, [address], commitment);
  const [account] = accounts;
  if (account == null || account.owner !== SYSTEM_PROGRAM || account.data.length !== NONCE_ACCOUNT_LENGTH) {
    return { slot, value: undefined };
  }
  const isInitialized = account.data.readUInt32LE(STATE_AT) === INITIALIZED;
  return { slot, value: isInitialized ? NonceAccount.fromAccountData(account.data).nonce : undefined };
}
