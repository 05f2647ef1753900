import { createTransferInstruction } from '@solana/spl-token';
import { PublicKey, SystemProgram } from '@solana/web3.js';
import t, { type Test } from 'tap';
import { WRAPPED_SOL } from '../../../../../../src/chains/solana/programs.ts';
import { prepareSwap } from '../../../../../../src/chains/solana/swap/prepare.ts';
import type { JsonObject } from '../../../../../../src/domain/json/json.ts';
import { NO_MARKET } from '../../../../../support/no-market.ts';
import { type NodeWorld, openSolana } from '../../../../../support/solana-node.ts';
import { built } from '../../../../../support/solana-relayer.ts';
import { MINT, relayerAddress } from '../../../../../support/sponsor-scene.ts';
import { RELAYER_KEY, SOMEBODY, SOURCE, SWAP_ACCOUNTS, SWAP_POLICIES } from '../../../../../support/swap-scene.ts';

const give = createTransferInstruction(new PublicKey(SOURCE), new PublicKey(SOMEBODY), RELAYER_KEY, 1_000);
const QUOTE = { inputMint: MINT, inAmount: '1000', outputMint: WRAPPED_SOL, outAmount: '2000000' };

interface Asked {
  world?: NodeWorld;
  policies?: JsonObject;
  transaction?: string;
  committed?: bigint;
}

async function prepared(
  t: Test,
  { world, policies = SWAP_POLICIES, transaction = built([give]), committed = 0n }: Asked = {},
) {
  const { rpc } = await openSolana(t, { accounts: SWAP_ACCOUNTS, ...world });
  const market = { ...NO_MARKET, get: async () => QUOTE, post: async () => ({ swapTransaction: transaction }) };
  return prepareSwap(rpc, market, MINT, { address: relayerAddress, policies }, { committed });
}

t.test('a swap is prepared with what it gives and what it has to bring', async (t) => {
  t.match(await prepared(t), {
    kind: 'ready',
    cost: 5_000n + 2_039_280n,
    fields: { swap: { mint: MINT, given: 1_000, promised: 2_000_000, least: 1_980_000 }, rent: 2_039_280 },
  });
});

t.test('what can never be is refused, and what can be later waits', async (t) => {
  const { [SOURCE]: _, ...empty } = SWAP_ACCOUNTS;
  const theft = SystemProgram.transfer({ fromPubkey: RELAYER_KEY, toPubkey: new PublicKey(SOMEBODY), lamports: 1 });
  for (const [asked, outcome] of [
    [{ policies: {} }, { kind: 'refused', reason: /no swap of/ }],
    [{ world: { accounts: empty } }, { kind: 'refused', reason: /nothing to swap/ }],
    [{ transaction: built([theft]) }, { kind: 'refused', reason: /not signed: it gives 1{32}/ }],
    [{ world: { fee: 5_005_001 } }, { kind: 'refused', reason: /exceeds max allowed fee amount 5005000/ }],
    [{ world: { simulation: { err: 'AccountInUse' } } }, { kind: 'parked', cause: 'price' }],
    [{ committed: 999_000_000n }, { kind: 'parked', cause: 'balance' }],
    [{ world: { fee: 1_980_000 } }, { kind: 'parked', reason: 'The swap brings 1980000 lamports and costs 1980000' }],
  ] as [Asked, object][])
    t.match(await prepared(t, asked), outcome, JSON.stringify(outcome));
});

t.test('without a market a swap waits', async (t) => {
  const { rpc } = await openSolana(t, { accounts: SWAP_ACCOUNTS });
  const account = { address: relayerAddress, policies: SWAP_POLICIES };
  const waits = { kind: 'parked', reason: 'No swap: there is none', cause: 'price' };
  t.match(await prepareSwap(rpc, NO_MARKET, MINT, account, { committed: 0n }), waits);
});
