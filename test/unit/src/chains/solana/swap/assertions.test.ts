import type { TransactionInstruction } from '@solana/web3.js';
import t from 'tap';
import { TOKEN_PROGRAM } from '../../../../../../src/chains/solana/programs.ts';
import { assertions, emptied } from '../../../../../../src/chains/solana/swap/assertions.ts';
import { relayerAddress } from '../../../../../support/sponsor-scene.ts';
import { builtBy, SOURCE, swappingOf, WRAPPED } from '../../../../../support/swap-scene.ts';

const kind = ({ programId, data }: TransactionInstruction) => `${programId.toBase58().slice(0, 5)} ${data[0] ?? ''}`;

const keysOf = (instruction?: TransactionInstruction) => instruction?.keys.map(({ pubkey }) => pubkey.toBase58()) ?? [];

t.test('before a swap its account is there and empty', async (t) => {
  t.strictSame(emptied(relayerAddress, swappingOf(builtBy()).wrapped).map(kind), ['AToke 1', 'Token 9', 'AToke 1']);
});

t.test('at its end all has to be there, and nobody may take it later', async (t) => {
  const held = { program: TOKEN_PROGRAM, mint: 'm', owner: relayerAddress, isFrozen: false, delegate: null };
  const end = (amount: bigint, lamports: bigint) =>
    assertions({ relayer: relayerAddress, lamports, brought: 5n, tokens: new Map([[SOURCE, { ...held, amount }]]) });
  const all = end(7n, 9n);
  t.strictSame(all.map(kind), ['Token 3', 'Token 5', 'Token 3', '11111 2', 'Token 9']);
  for (const [place, account, amount] of [
    [0, SOURCE, 7n],
    [2, WRAPPED, 5n],
  ] as const) {
    t.strictSame(keysOf(all[place]).slice(0, 2), [account, account]);
    t.equal(all[place]?.data.readBigUInt64LE(1), amount);
  }
  t.strictSame(keysOf(all[3]), [relayerAddress, relayerAddress]);
  t.strictSame(end(0n, 0n).map(kind), ['Token 5', 'Token 3', 'Token 9'], 'of nothing there is nothing to assert');
});
