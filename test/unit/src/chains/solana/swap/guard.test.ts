import { createSyncNativeInstruction, createTransferInstruction } from '@solana/spl-token';
import { ComputeBudgetProgram, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import t, { type Test } from 'tap';
import { AGGREGATOR } from '../../../../../../src/chains/solana/swap/aggregator.ts';
import { swapFault, writtenBy } from '../../../../../../src/chains/solana/swap/guard.ts';
import { keyOf, openSolana } from '../../../../../support/solana-node.ts';
import { memo } from '../../../../../support/solana-relayer.ts';
import { relayerAddress } from '../../../../../support/sponsor-scene.ts';
import { builtBy, RELAYER_KEY, SOMEBODY, SOURCE, SWAP_ACCOUNTS, WRAPPED } from '../../../../../support/swap-scene.ts';

/** A call of Jupiter's program that gives `given` and gets `out`. */
function route(
  given: bigint,
  out: bigint,
  [from, to, instead] = [SOURCE, WRAPPED, AGGREGATOR],
): TransactionInstruction {
  const data = Buffer.alloc(30);
  Buffer.from('bb64facc31c4af14', 'hex').copy(data);
  data.writeBigUInt64LE(given, 8);
  data.writeBigUInt64LE(out, 16);
  const others = Array.from({ length: 4 }, () => SOMEBODY);
  const named = [relayerAddress, from ?? '', to ?? '', ...others, instead ?? ''].map((key) => new PublicKey(key));
  const keys = named.map((pubkey, place) => ({ pubkey, isSigner: false, isWritable: place < 3 }));
  return new TransactionInstruction({ programId: new PublicKey(AGGREGATOR), keys, data });
}

async function fault(
  t: Test,
  instructions: TransactionInstruction[],
  extra = {},
  isAsIs = false,
): Promise<string | undefined> {
  const { rpc } = await openSolana(t, { accounts: { ...SWAP_ACCOUNTS, ...extra } });
  const { message } = builtBy(...instructions);
  const own = await rpc.onOne((read) => writtenBy(read, message, message.keys, relayerAddress));
  if (typeof own === 'string') return own;
  const allowance = { relayer: relayerAddress, source: SOURCE, given: 1_000n, least: 500n, isAsIs };
  return swapFault(message, message.keys, own, allowance);
}

t.test('what a swap is made of passes', async (t) => {
  const unit = ComputeBudgetProgram.setComputeUnitLimit({ units: 1 });
  t.equal(
    await fault(t, [unit, createSyncNativeInstruction(new PublicKey(WRAPPED)), route(1_000n, 500n), memo('x')]),
    undefined,
  );
});

t.test('amounts count together, and Jupiter’s program has to insist on the least', async (t) => {
  const [source, to] = [new PublicKey(SOURCE), new PublicKey(SOMEBODY)];
  const one = createTransferInstruction(source, to, RELAYER_KEY, 1n);
  t.equal(await fault(t, [route(1_000n, 500n), one]), 'it takes 1001 of the token, not 1000');
  t.equal(await fault(t, [route(1_000n, 499n)]), 'it would be content with 499 lamports');
});

t.test('stake and nonces are no part of a swap', async (t) => {
  const stranger = keyOf(50);
  const touch = SystemProgram.transfer({
    fromPubkey: new PublicKey(stranger),
    toPubkey: new PublicKey(stranger),
    lamports: 0,
  });
  for (const [key] of touch.keys.entries()) Object.assign(touch.keys[key] ?? {}, { isSigner: false });
  for (const owner of ['Stake11111111111111111111111111111111111111', '11111111111111111111111111111111']) {
    const extra = { [stranger]: { owner, data: Buffer.alloc(80) } };
    t.equal(await fault(t, [touch], extra), `it may write ${stranger}, which is no part of a swap`);
  }
});

t.test('what is signed as it is swaps between the relayer’s accounts, and calls nobody else', async (t) => {
  const strict = (...instructions: TransactionInstruction[]) => fault(t, instructions, {}, true);
  t.equal(await strict(route(1_000n, 500n)), undefined);
  t.equal(await strict(route(1_000n, 500n, [SOURCE, WRAPPED, WRAPPED])), undefined);
  for (const places of [
    [WRAPPED, WRAPPED, AGGREGATOR],
    [SOURCE, SOMEBODY, AGGREGATOR],
    [SOURCE, WRAPPED, SOMEBODY],
  ] as [string, string, string][])
    t.equal(await strict(route(1_000n, 500n, places)), 'it swaps between other accounts than the relayer’s');
  t.match(await strict(route(1_000n, 500n), memo('x')), /^it calls Memo\S+, which is no part of a swap$/);
});
