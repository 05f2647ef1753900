import t from 'tap';
import { readPolicy } from '../../../../../../src/chains/solana/configuration/policy.ts';
import { SYSTEM_PROGRAM } from '../../../../../../src/chains/solana/programs.ts';
import {
  assetOf,
  grossOf,
  holdings,
  isAccountMissing,
  transferOf,
} from '../../../../../../src/chains/solana/sponsor/asset.ts';
import { keyOf, openSolana } from '../../../../../support/solana-node.ts';
import { accountOf, MINT, TOKENS, userAddress } from '../../../../../support/sponsor-scene.ts';

t.test('a token is what the chain says it is, the coin needs no question', async (t) => {
  const { rpc } = await openSolana(t, { accounts: TOKENS, balance: 77 });
  const open = readPolicy({});
  await rpc.onOne(async (read) => {
    const token = await assetOf(read, MINT, open);
    t.match(token, { address: MINT, decimals: 6, mint: { address: MINT } });
    t.equal(await holdings(read, token, userAddress), 100_000_000n);
    t.equal(await isAccountMissing(read, token, userAddress), false);
    t.equal(await isAccountMissing(read, token, keyOf(50)), true);
    t.equal(grossOf(token, 5n), 5n);
    t.match(String(transferOf(token, userAddress, keyOf(50), 5n).keys[0]?.pubkey), accountOf(userAddress));
    await t.rejects(holdings(read, token, keyOf(50)), { tag: 'PREPARATION_ERROR', code: -32_601 });

    const coin = await assetOf(read, SYSTEM_PROGRAM, readPolicy({ allowed_tokens: [{ mint: MINT }] }));
    t.strictSame(coin, { address: SYSTEM_PROGRAM, decimals: 9, mint: null });
    t.equal(await holdings(read, coin, userAddress), 77n);
    t.equal(await isAccountMissing(read, coin, userAddress), false);
    t.equal(grossOf(coin, 5n), 5n);
    t.equal(String(transferOf(coin, userAddress, keyOf(50), 5n).programId), SYSTEM_PROGRAM);
  });
});

t.test('what is no token, or not allowed, is refused', async (t) => {
  const { rpc } = await openSolana(t, { accounts: TOKENS });
  const ask = (address: string, policies = {}) => rpc.onOne((read) => assetOf(read, address, readPolicy(policies)));
  await t.rejects(ask('x'), { code: -32_602, message: '"x" is not an address' });
  await t.rejects(ask(keyOf(50)), { code: -32_601, message: /is no token$/ });
  await t.rejects(ask(MINT, { allowed_tokens: [{ mint: keyOf(50) }] }), {
    code: -32_013,
    message: /not allowed for transfers/,
  });
});
