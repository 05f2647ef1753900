import { inspect } from 'node:util';
import type { Test } from 'tap';
import type { StoredSigner } from '../../../src/features/signers/record.ts';
import type { Store } from '../../../src/store/store.ts';

function signerOf(given: Partial<StoredSigner> = {}): StoredSigner {
  return { id: 'key-1', type: 'vault', stamp: 'first', shown: { address: 'https://vault.example' }, ...given };
}

const CONFIG = { address: 'https://vault.example', secret_id: { type: 'plain', value: 'nobody may see it' } };

/** Tests of signers for every store. */
export function signersContract(t: Test, open: (t: Test) => Promise<Store>): void {
  t.test('a signer comes back without its configuration, which is there for who asks', async (t) => {
    const store = await open(t);
    await store.write((writer) => writer.insertSigner(signerOf(), CONFIG));
    const stored = await store.read.storedSigner('key-1');
    t.strictSame(stored, signerOf());
    t.notMatch(inspect([stored, await store.read.storedSigners({ page: 1, perPage: 9 })], { depth: 9 }), /nobody/);
    t.strictSame(await store.read.signerConfig('key-1', 'first'), CONFIG);
    t.equal(await store.read.signerConfig('key-1', 'second'), undefined);
    t.equal(await store.read.storedSigner('nobody'), undefined);
  });

  t.test('an id is taken once, until it is deleted', async (t) => {
    const store = await open(t);
    await store.write((writer) => writer.insertSigner(signerOf(), CONFIG));
    await t.rejects(
      store.write((writer) => writer.insertSigner(signerOf({ stamp: 'second' }), {})),
      { name: 'DuplicateRecord' },
    );
    t.equal(await store.write((writer) => writer.deleteSigner('key-1')), true);
    t.equal(await store.write((writer) => writer.deleteSigner('key-1')), false);
    await store.write((writer) => writer.insertSigner(signerOf({ stamp: 'second' }), {}));
    t.equal(await store.read.signerConfig('key-1', 'first'), undefined, 'another one has its id');
    t.strictSame(await store.read.signerConfig('key-1', 'second'), {});
  });

  t.test('lists are in pages, those of one write by id', async (t) => {
    const store = await open(t);
    await store.write(async (writer) => {
      for (const id of ['a', 'c', 'b']) await writer.insertSigner(signerOf({ id }), {});
    });
    const idsOf = async (page: number) => {
      const { items, total } = await store.read.storedSigners({ page, perPage: 2 });
      return [items.map(({ id }) => id), total];
    };
    t.strictSame(
      [await idsOf(1), await idsOf(2)],
      [
        [['c', 'b'], 3],
        [['a'], 3],
      ],
    );
    t.strictSame(
      (await store.read.allSigners()).map(({ id }) => id),
      ['c', 'b', 'a'],
    );
  });
}
