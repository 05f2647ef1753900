import { createAssociatedTokenAccountIdempotentInstruction } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import t, { type Test } from 'tap';
import { readPolicy } from '../../../../../../src/chains/solana/configuration/policy.ts';
import { decodeTransaction } from '../../../../../../src/chains/solana/message/transaction.ts';
import { priceOf } from '../../../../../../src/chains/solana/sponsor/fee.ts';
import type { JsonObject } from '../../../../../../src/domain/json/json.ts';
import { keyOf, openSolana } from '../../../../../support/solana-node.ts';
import { built, memo } from '../../../../../support/solana-relayer.ts';
import { accountOf, MINT, relayerAddress, TOKENS } from '../../../../../support/sponsor-scene.ts';

const MAKING = createAssociatedTokenAccountIdempotentInstruction(
  ...([
    new PublicKey(relayerAddress),
    new PublicKey(accountOf(keyOf(50))),
    new PublicKey(keyOf(50)),
    new PublicKey(MINT),
  ] as const),
);

async function price(
  t: Test,
  policies: JsonObject,
  instructions = [memo('x')],
  fee: number | null = 5_000,
): Promise<bigint> {
  const { rpc } = await openSolana(t, { accounts: TOKENS, fee, prices: [5_000_000] });
  const { message } = decodeTransaction(built(instructions));
  return rpc.onOne((read) => priceOf(read, message, message.keys, readPolicy(policies)));
}

t.test(
  'a price is the network’s fee, rent and the margin on both; what others pay for priority is none of it',
  async (t) => {
    t.equal(await price(t, {}), 5_000n);
    t.equal(await price(t, {}, [memo('x'), MAKING]), 5_000n + BigInt((165 + 128) * 6_960));
    t.equal(await price(t, { fee_margin_percentage: 10 }), 5_500n);
    t.equal(await price(t, { fee_margin_percentage: 0.1 }), 5_005n);
    t.equal(await price(t, {}, [memo('x')], null), 5_000n, 'a node that does not know the blockhash');
  },
);

t.test('a price above the cap is refused', async (t) => {
  t.equal(await price(t, { max_allowed_fee_lamports: 5_000 }), 5_000n);
  await t.rejects(price(t, { max_allowed_fee_lamports: 4_999 }), {
    code: -32_013,
    detail: 'Policy violation: Fee amount 5000 exceeds max allowed fee amount 4999',
  });
});
