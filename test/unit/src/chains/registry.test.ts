import t from 'tap';
import { createChains, isReadOnlyRpcMethod, localRpcMethodKind } from '../../../../src/chains/registry.ts';
import { systemClock } from '../../../../src/domain/clock.ts';
import { loadedModules } from '../../../support/loaded-modules.ts';

t.test('every family is found by the type that it says it is', async (t) => {
  const chains = createChains(systemClock);
  t.strictSame([...chains.keys()], ['evm', 'solana', 'stellar']);
  for (const [type, chain] of chains) t.equal(chain.type, type);
});

t.test('a chain that loads late has all of its parts, and no part that its family lacks', async (t) => {
  const chain = createChains(systemClock).get('evm');
  if (chain === undefined) return t.fail();
  t.equal({ ...chain }.unit, 'wei');
  t.ok('connect' in chain);
  t.equal(chain.swapSchedule, undefined);
  t.notOk('swapSchedule' in chain);
});

t.test('methods that a family answers itself are told by what they do', async (t) => {
  t.equal(localRpcMethodKind('feeEstimate'), 'answer');
  t.equal(localRpcMethodKind('prepareTransaction'), 'sign');
  t.equal(localRpcMethodKind('signAndSendTransaction'), 'send');
  t.equal(localRpcMethodKind('sendTransaction'), undefined);
  t.ok(isReadOnlyRpcMethod('getSupportedTokens'));
  t.notOk(isReadOnlyRpcMethod('signTransaction'));
});

t.test('only the code of the family that is used is loaded', async (t) => {
  const modules = await loadedModules(`
    const { createChains } = await import('../../src/chains/registry.ts');
    const { systemClock } = await import('../../src/domain/clock.ts');
    const chains = createChains(systemClock);
    for (const chain of chains.values()) chain.networkSchema.safeParse({});
    console.log('declared');
    chains.get('solana').addressOf(new Uint8Array(32));
  `);
  const [first, then] = [modules.slice(0, modules.indexOf('declared')), modules.slice(modules.indexOf('declared'))];
  const codeOf = (urls: readonly string[]) =>
    ['evm', 'solana', 'stellar'].filter((family) => urls.some((url) => url.endsWith(`/chains/${family}/index.ts`)));
  t.ok(first.some((url) => url.endsWith('/stellar/configuration/family.ts')));
  t.strictSame(codeOf(first), []);
  t.strictSame(
    first.filter((url) => /node_modules\/(ethers|@stellar|@solana)/.test(url)),
    [],
  );
  t.strictSame(codeOf(then), ['solana']);
});
