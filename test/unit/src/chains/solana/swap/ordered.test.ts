import t, { type Test } from 'tap';
import { writtenBy } from '../../../../../../src/chains/solana/swap/guard.ts';
import { asOrdered } from '../../../../../../src/chains/solana/swap/ordered.ts';
import { keyOf, type NodeAccount, type NodeWorld, openSolana } from '../../../../../support/solana-node.ts';
import { memo } from '../../../../../support/solana-relayer.ts';
import { MINT, relayerAddress } from '../../../../../support/sponsor-scene.ts';
import { builtBy, SOMEBODY, SWAP_ACCOUNTS, swappingOf } from '../../../../../support/swap-scene.ts';
import { tokensAccount } from '../../../../../support/token-accounts.ts';

const SYSTEM = '11111111111111111111111111111111';
const wallet = (lamports: number, data = Buffer.alloc(0)): NodeAccount => ({ owner: SYSTEM, lamports, data });
const onNode = ({ owner, data, lamports = 1_000_000 }: NodeAccount) => ({
  owner,
  lamports,
  executable: false,
  data: [data.toString('base64'), 'base64'],
});
const EMPTY = tokensAccount(MINT, relayerAddress, 0n);

/** The plan when a simulation leaves these accounts: the relayer's, its wrapped SOL account, its token account. */
async function planned(t: Test, after: (NodeAccount | null)[], world: NodeWorld = {}) {
  const accounts = { ...SWAP_ACCOUNTS, [relayerAddress]: wallet(1_000_000_000) };
  const simulation = { accounts: after.map((one) => (one === null ? null : onNode(one))) };
  const { rpc } = await openSolana(t, { accounts, simulation, ...world });
  const swapping = swappingOf(builtBy(memo('swap')));
  const { message } = swapping.offer.transaction;
  return rpc.onOne(async (read) => {
    const own = await writtenBy(read, message, message.keys, relayerAddress);
    return asOrdered(read, swapping, typeof own === 'string' ? new Map() : own, message.keys);
  });
}

t.test('an order that leaves what it has to is signed as it is', async (t) => {
  const plan = await planned(t, [wallet(1_001_990_000), null, EMPTY]);
  t.match(plan, { lastValidBlockHeight: 1_050n, slot: 0n, rent: 0n, tried: { error: null } });
});

t.test('one that leaves less is not', async (t) => {
  const delegated = Buffer.from(EMPTY.data);
  delegated.writeUInt32LE(1, 72);
  for (const [after, reason] of [
    [[wallet(990_000_000), null, EMPTY], 'it brings less than 1980000 lamports'],
    [[null, null, EMPTY], 'it takes the account itself'],
    [[{ ...wallet(2_000_000_000), owner: keyOf(3) }, null, EMPTY], 'it takes the account itself'],
    [[wallet(2_000_000_000), null, { ...EMPTY, data: delegated }], 'it leaves the token account to somebody else'],
    [[wallet(2_000_000_000), null, tokensAccount(MINT, SOMEBODY, 0n)], 'it leaves the token account to somebody else'],
    [[], 'the node does not tell what it would leave'],
  ] as const)
    t.equal(await planned(t, [...after]), reason);
  const stale = { valid: [keyOf(8)] };
  t.equal(await planned(t, [wallet(2_000_000_000), null, EMPTY], stale), 'its blockhash is not known, or too old');
});
