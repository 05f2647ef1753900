import { createTransferInstruction } from '@solana/spl-token';
import { ComputeBudgetProgram, PublicKey } from '@solana/web3.js';
import t, { type Test } from 'tap';
import { readComputeBudget } from '../../../../../../src/chains/solana/message/compute-budget.ts';
import { composed } from '../../../../../../src/chains/solana/swap/assemble.ts';
import { writtenBy } from '../../../../../../src/chains/solana/swap/guard.ts';
import { type NodeWorld, openSolana } from '../../../../../support/solana-node.ts';
import { relayerAddress } from '../../../../../support/sponsor-scene.ts';
import {
  builtBy,
  partsOf,
  RELAYER_KEY,
  SOMEBODY,
  SOURCE,
  SWAP_ACCOUNTS,
  swappingOf,
} from '../../../../../support/swap-scene.ts';

const give = createTransferInstruction(new PublicKey(SOURCE), new PublicKey(SOMEBODY), RELAYER_KEY, 1_000);
const price = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 2_000_000_000_000 });

async function made(t: Test, world: NodeWorld = {}) {
  const { rpc } = await openSolana(t, { accounts: SWAP_ACCOUNTS, ...world });
  const swapping = swappingOf(builtBy(ComputeBudgetProgram.setComputeUnitLimit({ units: 5 }), price, give));
  return rpc.onOne(async (read) => {
    const { message } = swapping.offer.transaction;
    const own = await writtenBy(read, message, message.keys, relayerAddress);
    if (typeof own === 'string') throw new Error(own);
    return composed(read, swapping, own, []);
  });
}

t.test('a market’s message is put between a beginning and an end of the relayer’s', async (t) => {
  const plan = await made(t);
  if (typeof plan === 'string') throw new Error(plan);
  t.strictSame(partsOf(plan.message), [
    ...['Compu 2', 'Compu 3', 'AToke 1', 'Token 9', 'AToke 1', 'Token 3'],
    ...['Token 5', 'Token 3', '11111 2', 'Token 9'],
  ]);
  const { limit = 0, price: bounded = 0n } = readComputeBudget(plan.message);
  t.ok((BigInt(limit) * bounded) / 1_000_000n <= 5_000_000n, 'priority is bounded');
  t.equal(plan.rent, BigInt((165 + 128) * 6_960), 'of the account that is lent');
  const floor = plan.message.instructions.at(-2)?.data.readBigUInt64LE(4) ?? 0n;
  // The balance less the fee with its priority fee, the rent, and a tenth of the amount that must arrive.
  t.equal(floor, 1_000_000_000n - 5_005_000n - plan.rent - 198_000n);
});

t.test('a trial that fails is told with the message that was tried', async (t) => {
  const plan = await made(t, { simulation: { err: 'AccountNotFound' } });
  t.match(plan, { tried: { error: 'AccountNotFound' } });
});
