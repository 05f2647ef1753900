/** One start with both keys reseals everything, so the old key can be retired. */
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { systemClock } from '../../../../../../src/domain/clock.ts';
import { createLog } from '../../../../../../src/observability/log.ts';
import { createSealer } from '../../../../../../src/store/sealing.ts';
import { openSqliteStore } from '../../../../../../src/store/sqlite/sqlite.ts';
import { notificationOf, relayerOf } from '../../../../../support/store.ts';

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const rpcUrls = [{ url: 'https://rpc.example/a-secret-key', weight: 1 }];

t.test('what was sealed under the old key is sealed under the new one', async (t) => {
  const path = `${t.testdir()}/store.db`;
  const open = (...keys: Uint8Array[]) =>
    openSqliteStore({ path, log: createLog('silent'), clock: systemClock, sealer: createSealer(keys, randomBytes) });
  const before = await open(oldKey);
  const network = { type: 'evm', name: 'mine', rpcUrls, settings: null, declaration: null } as const;
  await before.write(async (writer) => {
    await writer.putNotification(notificationOf());
    await writer.putSigningKey('hook-1', 'a signing key');
    await writer.putRelayer(relayerOf({ customRpcUrls: rpcUrls }));
    await writer.putNetwork(network);
    await writer.insertSigner({ id: 'key-1', type: 'plain', stamp: 'one', shown: {} }, { key: 'a key' });
    await writer.putPlugin({ pluginId: 'p', settings: { timeout: 5 }, isDisabled: false, declared: {} });
  });
  await before.close();
  await (await open(newKey, oldKey)).close();
  const after = await open(newKey);
  t.teardown(() => after.close());
  t.equal((await after.read.signingKeys('hook-1'))[0]?.export().toString(), 'a signing key');
  t.strictSame((await after.read.relayer('relayer-1'))?.customRpcUrls, rpcUrls);
  t.strictSame(await after.read.storedNetworks(), [network]);
  t.match(await after.read.storedPlugin('p'), { settings: { timeout: 5 } });
  t.strictSame(await after.read.signerConfig('key-1', 'one'), { key: 'a key' });
});
