import { addressOfPublicKey } from '../address.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../programs.ts';
import type { OnChainAccount } from '../rpc-calls.ts';

/** The size of an account of the Token program (spl-token, `Account`). In Token-2022 extensions may follow. */
export const TOKEN_ACCOUNT_SIZE = 165;

const OWNER_AT = 32;
const AMOUNT_AT = 64;
/** Four bytes that say whether there is a delegate, and then its key. */
const DELEGATE_AT = 72;
const STATE_AT = 108;
const FROZEN = 2;
const KEY_LENGTH = 32;
/** In Token-2022, a byte after the account says what kind of account the extensions are of. */
const KIND_AT = TOKEN_ACCOUNT_SIZE;
const KIND_ACCOUNT = 2;
/** A multisig account has this size, and may have any byte anywhere. No account with extensions has this size. */
export const MULTISIG_SIZE = 355;

export interface TokenAccount {
  /** Token, or Token-2022. */
  program: string;
  mint: string;
  owner: string;
  /** In the token's smallest unit. */
  amount: bigint;
  isFrozen: boolean;
  /** Who may move some of the tokens besides the owner. */
  delegate: string | null;
}

/** Whether a program is one of the two that keep tokens. */
function isTokenProgram(program: string): boolean {
  return program === TOKEN_PROGRAM || program === TOKEN_2022_PROGRAM;
}

/** Reads a token account; undefined for any other account. */
export function readTokenAccount(account: OnChainAccount | null | undefined): TokenAccount | undefined {
  if (account == null || !isTokenProgram(account.owner)) return undefined;
  const { data, owner: program } = account;
  const isPlain = data.length === TOKEN_ACCOUNT_SIZE;
  const isExtended = program === TOKEN_2022_PROGRAM && data[KIND_AT] === KIND_ACCOUNT && data.length !== MULTISIG_SIZE;
  if (!isPlain && !isExtended) return undefined;
  const state = data[STATE_AT] ?? 0;
  if (state === 0) return undefined;
  return {
    program,
    mint: addressOfPublicKey(data.subarray(0, KEY_LENGTH)),
    owner: addressOfPublicKey(data.subarray(OWNER_AT, OWNER_AT + KEY_LENGTH)),
    amount: data.readBigUInt64LE(AMOUNT_AT),
    isFrozen: state === FROZEN,
    delegate:
      data.readUInt32LE(DELEGATE_AT) === 0
        ? null
        : addressOfPublicKey(data.subarray(DELEGATE_AT + 4, DELEGATE_AT + 4 + KEY_LENGTH)),
  };
}
