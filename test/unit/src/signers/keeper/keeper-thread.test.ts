import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import t from 'tap';
import { startKeeperThread } from '../../../../../src/signers/keeper/keeper-worker.ts';
import type { KeeperOrder, KeeperReport } from '../../../../../src/signers/keeper/orders.ts';

t.test('it answers each order, signs while a keystore is opened, and ends when it is told', async (t) => {
  const thread = startKeeperThread();
  t.teardown(() => thread.terminate());
  const heard: KeeperReport[] = [];
  const saysAll = Promise.withResolvers<void>();
  thread.on('message', (report: KeeperReport) => heard.push(report) === 4 && saysAll.resolve());
  const use: KeeperOrder = { kind: 'use', uses: [{ key: 1, curve: 'ed25519', payload: new Uint8Array(3) }] };
  const orders: KeeperOrder[] = [
    { kind: 'open', key: 1, material: { kind: 'key', bytes: Uint8Array.from(randomBytes(32)) } },
    { kind: 'open', key: 2, material: { kind: 'keystore', path: t.testdir(), passphrase: new Uint8Array(1) } },
  ];
  for (const order of orders) thread.postMessage(order);
  await once(thread, 'message');
  for (const order of [use, { kind: 'forget', key: 1 }, use]) thread.postMessage(order);
  await saysAll.promise;
  t.match(heard[0], { kind: 'opened', key: 1, mark: /^[0-9a-f]{64}$/ });
  t.match(
    heard.find(({ kind }) => kind === 'unopened'),
    { key: 2, reason: /EISDIR/ },
  );
  t.match(
    heard.filter(({ kind }) => kind === 'used'),
    [{ results: [{ bytes: Uint8Array }] }, { results: [{ reason: 'it is closed' }] }],
  );
  thread.postMessage({ kind: 'end' });
  t.same(await once(thread, 'exit'), [0]);
});
