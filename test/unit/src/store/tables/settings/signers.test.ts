import { readFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { storeFor, temporaryStore } from '../../../../../support/store.ts';
import { signersContract } from '../../../../../support/store-contract/signers.ts';

signersContract(t, storeFor);

const signer = (id: string) => ({ id, type: 'plain', stamp: `of ${id}`, shown: {} });

t.test('no file of the database holds a key in clear, and none opens in another row', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  await store.write(async (writer) => {
    await writer.insertSigner(signer('a'), { key: 'a key of a' });
    await writer.insertSigner(signer('b'), { key: 'a key of b' });
  });
  for (const file of [path, `${path}-wal`]) t.notOk((await readFile(file)).includes('a key of'), file);
  const vandal = new DatabaseSync(path);
  vandal.exec(`update signers set config = (select config from signers where id = 'a')`);
  vandal.close();
  t.strictSame(await store.read.signerConfig('a', 'of a'), { key: 'a key of a' });
  await t.rejects(store.read.signerConfig('b', 'of b'), {
    name: 'UnsealableSecret',
    message: /record b of table signers/,
  });
});
