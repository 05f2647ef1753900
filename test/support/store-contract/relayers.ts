import type { Test } from 'tap';
import type { Relayer, RelayerFilter, RelayerUse } from '../../../src/features/relayers/records/relayer.ts';
import type { Store } from '../../../src/store/store.ts';
import { relayerOf } from '../store.ts';

/** Tests of relayers for every store. */
export function relayersContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('the relayers that use one thing are found by it', async (t) => {
    const store = await open(t);
    await store.write(async (writer) => {
      await writer.putRelayer(relayerOf({ id: 'a', signerId: 's', network: 'n', address: '0x1' }));
      await writer.putRelayer(
        relayerOf({ id: 'b', signerId: 's', network: 'm', address: '0x1', notificationId: 'hook' }),
      );
      await writer.putRelayer(relayerOf({ id: 'c', signerId: 'other', network: 'n', networkType: 'solana' }));
    });
    const idsWith = async (use: RelayerUse) => (await store.read.relayersWith(use)).map(({ id }) => id);
    t.strictSame(await idsWith({ signerId: 's' }), ['b', 'a']);
    t.strictSame(await idsWith({ signerId: 's', network: 'n', networkType: 'evm' }), ['a']);
    t.strictSame(await idsWith({ network: 'n', networkType: 'evm' }), ['a']);
    t.strictSame(await idsWith({ notificationId: 'hook' }), ['b']);
    t.strictSame(await idsWith({ networkType: 'evm', address: '0x1' }), ['b', 'a']);
    t.strictSame(await idsWith({ signerId: 'nobody' }), []);
  });

  t.test('a relayer comes back as it was put', async (t) => {
    const store = await open(t);
    const relayer: Relayer = {
      id: 'full',
      name: 'Ünïcode 🚀 "quoted"',
      network: 'sepolia',
      networkType: 'evm',
      address: '0xabc',
      paused: true,
      disabledReason: {
        type: 'Multiple',
        details: [
          { type: 'NonceSyncFailed', details: 'a' },
          { type: 'BalanceCheckFailed', details: 'b' },
        ],
      },
      signerId: 's',
      notificationId: 'n',
      customRpcUrls: [{ url: 'http://localhost:1/', weight: 50 }],
      policies: { min_balance: (2n ** 128n - 1n).toString(), nested: { list: [1, null, 'x', '\0'] } },
      declaration: { id: 'full', paused: false },
    };
    await store.write((writer) => writer.putRelayer(relayer));
    t.strictSame(await store.read.relayer('full'), relayer);
    t.equal(await store.read.relayer('Full'), undefined, 'ids are case-sensitive');
    t.strictSame([await store.read.hasRelayer('full'), await store.read.hasRelayer('Full')], [true, false]);
  });

  t.test('nulls and a declaration of null stay what they are', async (t) => {
    const store = await open(t);
    await store.write((writer) => writer.putRelayer(relayerOf()));
    t.strictSame(await store.read.relayer('relayer-1'), relayerOf());
  });

  t.test('putting it again changes it and not its place', async (t) => {
    const store = await open(t);
    await store.write((writer) => writer.putRelayer(relayerOf({ id: 'old' })));
    await store.write(async (writer) => {
      while ((await writer.relayer('young')) === undefined) await writer.putRelayer(relayerOf({ id: 'young' }));
    });
    await store.write((writer) => writer.putRelayer(relayerOf({ id: 'old', name: 'renamed' })));
    t.equal((await store.read.relayer('old'))?.name, 'renamed');
    t.equal((await store.read.allRelayers()).length, 2);
  });

  t.test('those of one write are listed by id, in pages', async (t) => {
    const store = await open(t);
    const ids = ['a', 'B', 'b', '_', '-', 'é', '9', 'aa'];
    await store.write(async (writer) => {
      for (const id of ids) await writer.putRelayer(relayerOf({ id }));
    });
    const byBytes = ids.toSorted((a, b) => Buffer.compare(Buffer.from(b), Buffer.from(a)));
    t.strictSame(
      (await store.read.allRelayers()).map(({ id }) => id),
      byBytes,
    );
    const second = await store.read.relayers({ page: 2, perPage: 3 });
    t.strictSame(
      second.items.map(({ id }) => id),
      byBytes.slice(3, 6),
    );
    t.equal(second.total, ids.length);
    t.strictSame(
      (await store.read.relayers({ page: 1, perPage: 2 }, { among: ['b', 'a', 'nobody', 'B'] })).items.map(
        ({ id }) => id,
      ),
      ['b', 'a'],
    );
    t.match(await store.read.relayers({ page: 2, perPage: 2 }, { among: ['b', 'a', 'B'] }), {
      items: [{ id: 'B' }],
      total: 3,
    });
    t.strictSame(await store.read.relayers({ page: 1, perPage: 9 }, { among: [] }), { items: [], total: 0 });
    t.strictSame(await store.read.relayers({ page: 1, perPage: 0 }), { items: [], total: ids.length });
    t.strictSame(await store.read.relayers({ page: Number.MAX_SAFE_INTEGER, perPage: 500 }), {
      items: [],
      total: ids.length,
    });
  });

  t.test('a filter leaves those for which all of it holds, in pages of their own', async (t) => {
    const store = await open(t);
    const disabledReason = { type: 'BalanceCheckFailed', details: '0 < 1' };
    await store.write(async (writer) => {
      await writer.putRelayer(relayerOf({ id: 'a', name: 'Über Pay 100%', network: 'sepolia', address: '0xAbCd' }));
      await writer.putRelayer(relayerOf({ id: 'b_b', name: 'B', paused: true, network: 'sepolia', address: '0x02' }));
      await writer.putRelayer(relayerOf({ id: 'c', name: 'C', paused: true, disabledReason, network: 'mainnet' }));
      await writer.putRelayer(relayerOf({ id: 'd', name: 'D', disabledReason, network: 'mainnet', address: '0x04' }));
    });
    const found = async (filter: RelayerFilter) => {
      const { items, total } = await store.read.relayers({ page: 1, perPage: 10 }, filter);
      t.equal(total, items.length);
      return items.map(({ id }) => id).join();
    };
    t.equal(await found({}), 'd,c,b_b,a');
    t.equal(await found({ states: ['active'] }), 'a');
    t.equal(await found({ states: ['paused'] }), 'b_b', 'that the service has disabled it comes first');
    t.equal(await found({ states: ['paused', 'disabled'] }), 'd,c,b_b');
    t.equal(await found({ search: 'über' }), 'a', 'in whatever case, beyond ASCII too');
    t.equal(await found({ search: '0XABCD' }), 'a');
    t.equal(await found({ search: '%' }), 'a', 'no sign stands for any other');
    t.equal(await found({ search: '_' }), 'b_b');
    t.equal(await found({ search: 'SEPOLIA' }), 'b_b,a');
    t.equal(await found({ search: 'evm:main' }), 'd,c');
    t.equal(await found({ search: 'nowhere' }), '');
    t.equal(await found({ search: 'sepolia', states: ['paused'], among: ['a', 'b_b'] }), 'b_b');
    t.equal(await found({ search: 'sepolia', among: ['c'] }), '');
    const second = await store.read.relayers({ page: 2, perPage: 2 }, { states: ['paused', 'disabled'] });
    t.match(second, { items: [{ id: 'b_b' }], total: 3 });
    t.equal(second.items.length, 1);
  });

  t.test('text that a database cannot hold is replaced where it is prose', async (t) => {
    const store = await open(t);
    await store.write((writer) => writer.putRelayer(relayerOf({ name: 'nul\0 and half \ud800 a pair' })));
    t.equal((await store.read.relayer('relayer-1'))?.name, 'nul\ufffd and half \ufffd a pair');
  });
}
