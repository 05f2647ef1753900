import {
  ACCOUNT_SIZE,
  AccountLayout,
  MULTISIG_SIZE,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
  unpackAccount,
} from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import t from 'tap';
import { SYSTEM_PROGRAM } from '../../../../../../src/chains/solana/programs.ts';
import type { OnChainAccount } from '../../../../../../src/chains/solana/provider.ts';
import { readTokenAccount, TOKEN_ACCOUNT_SIZE } from '../../../../../../src/chains/solana/tokens/token-account.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';
import { keyOf } from '../../../../../support/solana-node.ts';

const PROGRAMS = [TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID].map((program) => program.toBase58());

const account = (owner: string, data: Buffer): OnChainAccount => ({ lamports: 1n, owner, isExecutable: false, data });

/** A token account in the public client's layout, with `rest` after it. */
function tokenData({ state = 1, amount = 5n, rest = Buffer.alloc(0) } = {}): Buffer {
  const data = Buffer.alloc(ACCOUNT_SIZE);
  const none = { delegateOption: 0, delegate: PublicKey.default, isNativeOption: 0, isNative: 0n } as const;
  const noClose = { closeAuthorityOption: 0, closeAuthority: PublicKey.default, delegatedAmount: 0n } as const;
  const [mint, owner] = [new PublicKey(keyOf(1)), new PublicKey(keyOf(2))];
  AccountLayout.encode({ mint, owner, amount, state, ...none, ...noClose }, data);
  return Buffer.concat([data, rest]);
}

t.test('who may move some of an account is told', async (t) => {
  const data = tokenData({ state: 1, amount: 5n, rest: Buffer.alloc(0) });
  data.writeUInt32LE(1, 72);
  new PublicKey(keyOf(3)).toBuffer().copy(data, 76);
  t.match(readTokenAccount(account(TOKEN_PROGRAM_ID.toBase58(), data)), { delegate: keyOf(3) });
});

t.test('an account is read as the public client reads it', async (t) => {
  t.equal(TOKEN_ACCOUNT_SIZE, ACCOUNT_SIZE);
  const extended = Buffer.from([2, 7, 0, 0, 0]);
  for (const program of PROGRAMS) {
    for (const [state, isFrozen] of [
      [1, false],
      [2, true],
    ] as const) {
      const data = tokenData({
        state,
        amount: 2n ** 64n - 1n,
        rest: program === PROGRAMS[1] ? extended : Buffer.alloc(0),
      });
      t.strictSame(readTokenAccount(account(program, data)), {
        program,
        mint: keyOf(1),
        owner: keyOf(2),
        amount: 2n ** 64n - 1n,
        isFrozen,
        delegate: null,
      });
    }
  }
});

/** How the public client reads the account. Undefined: it refuses it. */
function theirs({ owner, data }: OnChainAccount) {
  try {
    const info = { executable: false, owner: new PublicKey(owner), lamports: 1, data, rentEpoch: 0 };
    const { mint, owner: holder, amount, isInitialized } = unpackAccount(PublicKey.default, info, info.owner);
    return isInitialized ? [mint.toBase58(), holder.toBase58(), amount] : undefined;
  } catch {
    return undefined;
  }
}

t.test('whatever the bytes are, it is an account where the public client says so', async (t) => {
  const size = fc.constantFrom(0, 82, ACCOUNT_SIZE - 1, ACCOUNT_SIZE, ACCOUNT_SIZE + 1, 170, MULTISIG_SIZE, 400);
  let accounts = 0;
  const property = fc.property(
    size.chain((length) => fc.uint8Array({ minLength: length, maxLength: length })),
    fc.constantFrom(...PROGRAMS),
    fc.nat(2),
    fc.nat(3),
    (bytes, owner, state, kind) => {
      const data = Buffer.from(bytes);
      if (data.length > 108) data[108] = state;
      if (data.length > ACCOUNT_SIZE) data[ACCOUNT_SIZE] = kind;
      const there = account(owner, data);
      const ours = readTokenAccount(there);
      // The first token program has no extensions, so longer data cannot be an account of it.
      const expected = owner === PROGRAMS[0] && data.length > ACCOUNT_SIZE ? undefined : theirs(there);
      accounts += Number(ours !== undefined);
      return (
        JSON.stringify(ours && [ours.mint, ours.owner, `${ours.amount}`]) === JSON.stringify(expected?.map(String))
      );
    },
  );
  fc.assert(property, { numRuns: runsOf(1_000) });
  t.ok(accounts > 50, `${accounts} of them are accounts`);
});

t.test('what is no account of these programs is none', async (t) => {
  t.equal(readTokenAccount(null), undefined);
  t.equal(readTokenAccount(undefined), undefined);
  t.equal(readTokenAccount(account(SYSTEM_PROGRAM, tokenData())), undefined);
  t.equal(readTokenAccount(account(String(PROGRAMS[0]), tokenData({ state: 0 }))), undefined, 'not initialized');
  const multisig = tokenData({
    rest: Buffer.concat([Buffer.from([2]), Buffer.alloc(MULTISIG_SIZE - ACCOUNT_SIZE - 1)]),
  });
  t.equal(multisig.length, MULTISIG_SIZE);
  t.equal(readTokenAccount(account(String(PROGRAMS[1]), multisig)), undefined, 'the bytes of a multisig are anybody’s');
});
