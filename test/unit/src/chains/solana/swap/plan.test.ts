import t from 'tap';
import { decodeTransaction } from '../../../../../../src/chains/solana/message/transaction.ts';
import { mostFee, trialOf } from '../../../../../../src/chains/solana/swap/plan.ts';
import { memo } from '../../../../../support/solana-relayer.ts';
import { builtBy, swappingOf } from '../../../../../support/swap-scene.ts';

t.test('a swap costs no more than the policies say, or what is usual', async (t) => {
  const { policy, swaps } = swappingOf(builtBy());
  const priority = { level: 'high', most: 9n };
  t.equal(mostFee({ policy, swaps }), 5_005_000n);
  t.equal(mostFee({ policy, swaps: { ...swaps, priority } }), 5_009n);
  t.equal(mostFee({ policy: { ...policy, maxFee: 5_001n }, swaps: { ...swaps, priority } }), 5_001n);
});

t.test('a trial is the message with no signature', async (t) => {
  const { message } = builtBy(memo('x'));
  const tried = decodeTransaction(trialOf(message));
  t.strictSame([tried.message, tried.signatures], [message, [Buffer.alloc(64)]]);
});
