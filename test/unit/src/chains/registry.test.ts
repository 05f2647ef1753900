import t from 'tap';
import { createChains, onlyReads, ownKind } from '../../../../src/chains/registry.ts';
import { systemClock } from '../../../../src/domain/clock.ts';

t.test('every family is found by the type that it says it is', async (t) => {
  const chains = createChains(systemClock);
  t.strictSame([...chains.keys()], ['evm', 'solana', 'stellar']);
  for (const [type, chain] of chains) t.equal(chain.type, type);
});

t.test('methods that a family answers itself are told by what they do', async (t) => {
  t.equal(ownKind('feeEstimate'), 'answer');
  t.equal(ownKind('prepareTransaction'), 'sign');
  t.equal(ownKind('signAndSendTransaction'), 'send');
  t.equal(ownKind('sendTransaction'), undefined);
  t.ok(onlyReads('getSupportedTokens'));
  t.notOk(onlyReads('signTransaction'));
});
