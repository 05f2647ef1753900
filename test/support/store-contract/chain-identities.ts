import type { Test } from 'tap';
import type { Store } from '../../../src/store/store.ts';
import { relayerOf } from '../store.ts';

/** Tests for every store of how it pins a network to its chain. */
export function chainIdentitiesContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('a chain is pinned once', async (t) => {
    const store = await open(t);
    const pin = (identity: string) => store.write((writer) => writer.pinChainIdentity('evm', 'local', identity));
    t.equal(await store.read.chainIdentity('evm', 'local'), undefined);
    await pin('31337');
    await pin('31337');
    t.equal(await store.read.chainIdentity('evm', 'local'), '31337');
    t.equal(await store.read.chainIdentity('solana', 'local'), undefined);
    await t.rejects(pin('1'), { message: 'Network local (evm) is pinned to chain 31337; it is not 1' });
    t.equal(await store.read.chainIdentity('evm', 'local'), '31337');
  });

  t.test('a relayer finds the chain of its network', async (t) => {
    const store = await open(t);
    await store.write((writer) => writer.putRelayer(relayerOf({ network: 'local' })));
    await store.write((writer) => writer.pinChainIdentity('evm', 'other', '1'));
    t.equal(await store.read.chainIdentityOfRelayer('relayer-1'), undefined);
    await store.write((writer) => writer.pinChainIdentity('evm', 'local', '31337'));
    t.equal(await store.read.chainIdentityOfRelayer('relayer-1'), '31337');
    t.equal(await store.read.chainIdentityOfRelayer('nobody'), undefined);
  });

  t.test('one that was started anew is pinned anew, by whoever knew what it was', async (t) => {
    const store = await open(t);
    const repin = (was: string, is: string) =>
      store.write(async (writer) => {
        await writer.unpinChainIdentity('evm', 'local', was);
        await writer.pinChainIdentity('evm', 'local', is);
      });
    for (const network of ['local', 'other']) {
      await store.write((writer) => writer.pinChainIdentity('evm', network, 'first'));
    }
    await t.rejects(repin('another', 'second'), { message: /is pinned to chain first; it is not second/ });
    await repin('first', 'second');
    t.equal(await store.read.chainIdentity('evm', 'local'), 'second');
    t.equal(await store.read.chainIdentity('evm', 'other'), 'first');
  });

  t.test('of two that pin at once one wins', async (t) => {
    const store = await open(t);
    const outcomes = await Promise.allSettled(
      ['1', '2', '3', '4'].map((identity) =>
        store.write((writer) => writer.pinChainIdentity('evm', 'local', identity)),
      ),
    );
    t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
  });
}
