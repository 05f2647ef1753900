import { SYSTEM_PROGRAM } from '../programs.ts';
import { isWritable, type Message } from './compiled-message.ts';

/** A message that stays good until its nonce is advanced, instead of for 150 blocks. */
export interface DurableNonce {
  /** The account that holds the nonce. */
  account: string;
  /** Who may advance it. */
  authority: string;
  /** What the account has to hold when the message is executed: the message has it where others have a blockhash. */
  value: string;
}

/** The System program's AdvanceNonceAccount, as 32 bits. */
const ADVANCE_NONCE_ACCOUNT = Buffer.from([4, 0, 0, 0]);

/**
 * The durable nonce of a message, as the runtime finds it (agave, `get_durable_nonce`): its first instruction advances
 * a nonce in an account that is writable and among the static keys (SIMD-0242), whatever else is in its data.
 */
export function nonceOf(message: Message): DurableNonce | undefined {
  const { keys, blockhash, instructions } = message;
  const [first] = instructions;
  if (first === undefined || keys[first.program] !== SYSTEM_PROGRAM) return undefined;
  if (!first.data.subarray(0, 4).equals(ADVANCE_NONCE_ACCOUNT)) return undefined;

  // Between the two is the sysvar of recent blockhashes.
  const [place = -1, , authorityPlace = -1] = first.accounts;
  const account = keys[place];
  const authority = keys[authorityPlace];
  if (account === undefined || authority === undefined || !isWritable(message, place)) return undefined;
  return { account, authority, value: blockhash };
}
