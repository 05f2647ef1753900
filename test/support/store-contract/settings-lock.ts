import type { Test } from 'tap';
import type { Store, StoreWriter } from '../../../src/store/store.ts';
import { relayerOf, transactionOf } from '../store.ts';

/** Tests for every store of changes to settings that others refer to at the same time. */
export function settingsLockContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('a relayer is held by who finds it', async (t) => {
    const store = await open(t);
    await store.write((writer) => writer.putRelayer(relayerOf()));
    t.equal(await store.write((writer) => writer.holdRelayer('relayer-1')), true);
    t.equal(await store.write((writer) => writer.holdRelayer('nobody')), false);
  });

  t.test('what is accepted and what is deleted at the same time never miss each other', async (t) => {
    const store = await open(t);
    const accept = async (writer: StoreWriter, relayerId: string) => {
      if (await writer.holdRelayer(relayerId)) await writer.insertTransaction(transactionOf({ relayerId }));
    };
    const remove = async (writer: StoreWriter, relayerId: string) => {
      await writer.lockSettings();
      if ((await writer.pendingCount(relayerId)) === 0) await writer.deleteRelayer(relayerId);
    };
    const ids = Array.from({ length: 12 }, (_, index) => `r${index}`);
    await store.write(async (writer) => {
      for (const id of ids) await writer.putRelayer(relayerOf({ id }));
    });
    await Promise.all(
      ids.flatMap((id, index) => {
        const [first, second] = index % 2 === 0 ? [accept, remove] : [remove, accept];
        return [first, second, accept].map((act) => store.write((writer) => act(writer, id)));
      }),
    );
    for (const id of ids) {
      const isThere = (await store.read.relayer(id)) !== undefined;
      t.equal((await store.read.pendingCount(id)) > 0, isThere, `${id} is there with transactions, or gone without`);
    }
  });

  t.test('changes of settings see each other', async (t) => {
    const store = await open(t);
    const count = async (writer: StoreWriter) => {
      await writer.lockSettings();
      const { policies } = (await writer.relayer('relayer-1')) ?? relayerOf({ policies: { seen: 0 } });
      await writer.putRelayer(relayerOf({ policies: { seen: Number(policies['seen']) + 1 } }));
    };
    await Promise.all(Array.from({ length: 6 }, () => store.write(count)));
    t.strictSame((await store.read.relayer('relayer-1'))?.policies, { seen: 6 });
  });
}
