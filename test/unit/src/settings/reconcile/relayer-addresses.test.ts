import t, { type Test } from 'tap';
import { createChains } from '../../../../../src/chains/registry.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import type { Relayer } from '../../../../../src/features/relayers/records/relayer.ts';
import { createLog } from '../../../../../src/observability/log.ts';
import type { RelayerEntry } from '../../../../../src/settings/configuration.ts';
import {
  createKeyFaultCheck,
  WaitingRelayers,
  withAddresses,
} from '../../../../../src/settings/reconcile/relayer-addresses.ts';
import { createKeySigner } from '../../../../../src/signers/held-key.ts';
import { eventually } from '../../../../support/eventually.ts';
import { FakeSigner } from '../../../../support/fake-signer.ts';
import { relayerOf, storeFor } from '../../../../support/store.ts';

t.test('relayer addresses', async (t) => {
  const OWN = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
  const OTHER = '0x00000000000000000000000000000000000000aa';
  const chains = createChains(systemClock);

  function entry(signerId: string): RelayerEntry {
    const { id, name, network, networkType, paused, notificationId, customRpcUrls, policies } = relayerOf();
    return {
      id,
      name,
      network,
      networkType,
      paused,
      signerId,
      notificationId,
      customRpcUrls,
      policies,
      declaration: {},
    };
  }

  /** Resolves a relayer's address. `stored`: what the store has of it. @param silent whether the signer gives no key */
  async function asked(t: Test, stored: Partial<Relayer> | undefined, { silent = false, isReset = false } = {}) {
    const lines: string[] = [];
    const signer = createKeySigner(
      'k1',
      Buffer.from('ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80', 'hex'),
    );
    t.teardown(() => signer.close());
    const found = await withAddresses(
      [entry('k1')],
      {
        chains,
        signers: { signer: async () => (silent ? Promise.reject(new Error('the vault is sealed')) : signer) },
        read: { allRelayers: async () => (stored === undefined ? [] : [relayerOf({ signerId: 'k1', ...stored })]) },
        log: createLog('warn', { write: (line) => lines.push(line) }),
      },
      { isReset },
    );
    return { addresses: found.addressed.map(({ address }) => address), waiting: found.waiting, said: lines.join('') };
  }

  t.test('a relayer has the address of its key', async (t) => {
    t.strictSame(await asked(t, undefined), { addresses: [OWN], waiting: [], said: '' });
    t.strictSame(await asked(t, { address: OWN }), { addresses: [OWN], waiting: [], said: '' });
    t.match(
      await asked(t, { address: OTHER, signerId: 'k0' }),
      { addresses: [OWN], said: '' },
      'another signer is another address',
    );
  });

  t.test('it keeps its address where the key is another one by now, but in a reset', async (t) => {
    const { addresses, said } = await asked(t, { address: OTHER });
    t.strictSame(addresses, [OTHER]);
    t.match(
      said,
      new RegExp(`"level":"error".*"relayerId":"relayer-1","signer":"k1","address":"${OTHER}","keyIsOf":"${OWN}"`),
    );
    t.match(await asked(t, { address: OTHER }, { isReset: true }), { addresses: [OWN], said: '' });
  });

  t.test('it keeps its address where the key is not told', async (t) => {
    const { addresses, waiting, said } = await asked(t, { address: OWN }, { silent: true });
    t.strictSame([addresses, waiting], [[OWN], []]);
    t.match(said, new RegExp(`"level":"warn".*"address":"${OWN}".*the vault is sealed.*its stored address`));
    t.match(await asked(t, { address: OWN }, { silent: true, isReset: true }), { addresses: [OWN] });
  });

  t.test('one of which nothing is stored is waiting, and one with another signer stays as it is', async (t) => {
    t.match(await asked(t, undefined, { silent: true }), {
      addresses: [],
      waiting: [{ id: 'relayer-1', signerId: 'k1', error: { message: 'the vault is sealed' } }],
    });
    const { addresses, waiting, said } = await asked(t, { address: OTHER, signerId: 'k0' }, { silent: true });
    t.strictSame([addresses, waiting], [[], []]);
    t.match(said, /"level":"error".*the vault is sealed.*stays as it was till the next start/);
  });

  t.test('a chain family that is not there is an error', async (t) => {
    const parts = {
      chains: new Map(),
      signers: { signer: () => Promise.reject(new Error('nobody')) },
      read: { allRelayers: async () => [] },
      log: createLog('silent'),
    };
    await t.rejects(withAddresses([entry('k1')], parts), { message: 'Relayer relayer-1: no chain family evm' });
  });

  t.test('a signer with the key of another account is a fault, one that does not tell its key fails', async (t) => {
    const signer = createKeySigner(
      'k1',
      Buffer.from('ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80', 'hex'),
    );
    t.teardown(() => signer.close());
    const faultOf = createKeyFaultCheck({ chains, signers: { signer: async () => signer } });
    const relayer = relayerOf({ signerId: 'k1', address: OWN });
    t.equal(await faultOf(relayer), undefined);
    t.match(
      await faultOf({ ...relayer, address: OTHER }),
      new RegExp(`^signer k1 has the key of ${OWN}, not of ${OTHER}: bring its key back, or`),
    );
    const silent = createKeyFaultCheck({
      chains,
      signers: { signer: async () => Promise.reject(new Error('sealed')) },
    });
    await t.rejects(silent(relayer), { message: 'sealed' });
  });
});

t.test('late relayers', async (t) => {
  /** Relayers `one` and `two`, both waiting for the same signer, whose answer the test sets. */
  async function stage(t: Test) {
    const store = await storeFor(t);
    const lines: string[] = [];
    const rechecked: string[] = [];
    const signer = { answer: async (): Promise<FakeSigner> => Promise.reject(new Error('sealed')), asked: 0 };
    const declared = ['one', 'two'].map((id) => ({ ...relayerOf({ id, address: '' }), declaration: {} }));
    const late = new WaitingRelayers({
      chains: createChains(systemClock),
      store,
      declared: () => declared,
      everyMs: 5,
      signers: {
        signer() {
          signer.asked += 1;
          return signer.answer();
        },
      },
      engine: { recheck: (id) => rechecked.push(id) },
      log: createLog('info', { write: (line) => lines.push(line) }),
    });
    t.teardown(() => late.close());
    late.add(declared.map(({ id, signerId }) => ({ id, signerId, error: new Error('sealed') })));
    const ids = async () => (await store.read.allRelayers()).map(({ id }) => id).sort();
    return { store, late, signer, declared, lines, rechecked, ids };
  }

  t.test('a relayer is made once its signer tells its key, and why it waits is told once', async (t) => {
    const { signer, lines, rechecked, ids } = await stage(t);
    await eventually(
      () => signer.asked,
      (count) => count >= 6,
    );
    t.strictSame([await ids(), rechecked], [[], []]);
    t.match(lines.join(''), /"level":"error".*"relayerId":"one".*sealed.*it is tried again/);
    t.equal(lines.length, 2);
    signer.answer = async () => Promise.reject(new Error('forbidden'));
    await eventually(
      () => lines.length,
      (count) => count === 4,
    );
    t.match(lines.at(-1), /forbidden/, 'another reason is told');
    signer.answer = async () => new FakeSigner();
    t.strictSame(await eventually(ids, ({ length }) => length === 2), ['one', 'two']);
    await eventually(
      () => rechecked.length,
      (count) => count === 2,
    );
    t.match(lines.at(-1), /"level":"info".*"relayerId":"two".*had returned its public key/);
    const { asked } = signer;
    await new Promise((resolve) => setTimeout(resolve, 30));
    t.equal(signer.asked, asked, 'nobody is asked any more');
  });

  t.test('one that is there by now, or is not declared any more, waits no more', async (t) => {
    const { store, signer, declared, ids } = await stage(t);
    await store.write((writer) => writer.putRelayer(relayerOf({ id: 'one', address: '0x01' })));
    declared.pop();
    signer.answer = async () => new FakeSigner();
    const { asked } = signer;
    await new Promise((resolve) => setTimeout(resolve, 50));
    t.ok(signer.asked <= asked + 2);
    t.strictSame(await ids(), ['one']);
    t.match(await store.read.relayer('one'), { address: '0x01' });
  });

  t.test('it ends', async (t) => {
    const { late, signer } = await stage(t);
    await late.close();
    const { asked } = signer;
    late.add([{ id: 'three', signerId: 'k', error: new Error('sealed') }]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    t.equal(signer.asked, asked);
  });
});
