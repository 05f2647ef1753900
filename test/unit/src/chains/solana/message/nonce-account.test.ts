import { NONCE_ACCOUNT_LENGTH, NonceAccount, PublicKey } from '@solana/web3.js';
import t from 'tap';
import { nonceState } from '../../../../../../src/chains/solana/message/nonce-account.ts';
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../../../../../src/chains/solana/programs.ts';
import { keyOf, type NodeAccount, openSolana } from '../../../../../support/solana-node.ts';

const [NONCE, AUTHORITY, VALUE] = [keyOf(41), keyOf(42), keyOf(43)];

/** A nonce account in the layout of the System program: version 1, state, authority, value, lamports per signature. */
function nonceData({ state = 1 } = {}): Buffer {
  const data = Buffer.alloc(80);
  data.writeUInt32LE(1, 0);
  data.writeUInt32LE(state, 4);
  new PublicKey(AUTHORITY).toBuffer().copy(data, 8);
  new PublicKey(VALUE).toBuffer().copy(data, 40);
  data.writeBigUInt64LE(5_000n, 72);
  return data;
}

t.test('the value is what the public client reads', async (t) => {
  t.equal(nonceData().length, NONCE_ACCOUNT_LENGTH);
  t.equal(NonceAccount.fromAccountData(nonceData()).nonce, VALUE);
  const { rpc, doubles } = await openSolana(t, { accounts: { [NONCE]: { owner: SYSTEM_PROGRAM, data: nonceData() } } });
  const told = await rpc.onOne((read) => nonceState(read, NONCE, 'finalized'));
  t.strictSame(told, { slot: 968n, value: VALUE });
  t.match(doubles[0]?.calls, [{ method: 'getMultipleAccounts', params: [[NONCE], { commitment: 'finalized' }] }]);
});

t.test('what is no nonce has no value', async (t) => {
  const others: Record<string, NodeAccount> = {
    [keyOf(1)]: { owner: TOKEN_PROGRAM, data: nonceData() },
    [keyOf(2)]: { owner: SYSTEM_PROGRAM, data: nonceData({ state: 0 }) },
    [keyOf(3)]: { owner: SYSTEM_PROGRAM, data: Buffer.alloc(0) },
    [keyOf(4)]: { owner: SYSTEM_PROGRAM, data: nonceData().subarray(0, 79) },
    [keyOf(5)]: { owner: SYSTEM_PROGRAM, data: Buffer.concat([nonceData(), Buffer.alloc(1)]) },
  };
  const { rpc } = await openSolana(t, { accounts: others });
  for (const account of [...Object.keys(others), keyOf(6)]) {
    t.match(
      await rpc.onOne((read) => nonceState(read, account, 'confirmed')),
      { slot: 998n, value: undefined },
      account,
    );
  }
});
