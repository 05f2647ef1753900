import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { relayerOf, storeFor, temporaryStore } from '../../../../../support/store.ts';
import { relayersContract } from '../../../../../support/store-contract/relayers.ts';

relayersContract(t, storeFor);

t.test('the newest comes first', async (t) => {
  let now = 1000;
  const store = await storeFor(t, { now: () => now, elapsed: () => performance.now() });
  for (const id of ['b', 'c', 'a']) {
    await store.write((writer) => writer.putRelayer(relayerOf({ id })));
    now += 1;
  }
  await store.write((writer) => writer.putRelayer(relayerOf({ id: 'b', name: 'changed' })));
  t.strictSame(
    (await store.read.allRelayers()).map(({ id }) => id),
    ['a', 'c', 'b'],
  );
});

t.test('a record of unknown shape is an error that names it, and others are served', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  await store.write(async (writer) => {
    await writer.putRelayer(relayerOf({ id: 'good' }));
    await writer.putRelayer(relayerOf({ id: 'bad' }));
  });
  const unreadable = { name: 'UnreadableRecord', message: /^Record bad of table relayers cannot be read/ };
  const vandal = new DatabaseSync(path);
  t.teardown(() => vandal.close());
  for (const damage of [
    `paused = 7`,
    `network_type = 'bitcoin'`,
    `disabled_reason = '{"type":"Whim"}'`,
    `policies = 'null'`,
  ]) {
    vandal.exec('begin');
    vandal.exec(`update relayers set ${damage} where id = 'bad'`);
    vandal.exec('commit');
    await t.rejects(store.read.relayer('bad'), unreadable, damage);
    await t.rejects(store.read.allRelayers(), unreadable);
    t.equal((await store.read.relayer('good'))?.id, 'good');
    vandal.exec("delete from relayers where id = 'bad'");
    await store.write((writer) => writer.putRelayer(relayerOf({ id: 'bad' })));
  }
});

t.test('endpoints of an operator’s own are sealed: no key in a URL reaches the file', async (t) => {
  const { store, path, remove } = await temporaryStore();
  t.teardown(remove);
  const customRpcUrls = [
    { url: 'https://user:canary-password@rpc.example/canary-key?token=canary-token', weight: 100 },
  ];
  await store.write((writer) => writer.putRelayer(relayerOf({ id: 'a', customRpcUrls })));
  t.strictSame((await store.read.relayer('a'))?.customRpcUrls, customRpcUrls);

  for (const file of [path, `${path}-wal`]) {
    t.notOk(readFileSync(file).includes('canary'), `${file.slice(path.length)} does not hold it in clear`);
  }
  const vandal = new DatabaseSync(path);
  t.teardown(() => vandal.close());
  vandal.exec(`update relayers set id = 'b' where id = 'a'`);
  await t.rejects(
    store.read.relayer('b'),
    /custom_rpc_urls of record b of table relayers is damaged/,
    'nor can it move',
  );
});
