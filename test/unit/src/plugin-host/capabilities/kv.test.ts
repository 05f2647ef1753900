import t from 'tap';
import { AppError, invalidRequest } from '../../../../../src/domain/errors.ts';
import { kvDel, kvExists, kvGet, kvSet } from '../../../../../src/plugin-host/capabilities/kv.ts';
import { PluginServices } from '../../../../support/plugin-services.ts';

const of = (pluginId: string) => ({ pluginId, signal: new AbortController().signal, spender: () => undefined });

t.test('each plugin has its own keys, whoever it says it is', async (t) => {
  const services = new PluginServices();
  const set = kvSet(services).prepare({ key: 'k', value: { a: [1] }, ttlSec: 0.5 });
  t.equal(await set.run(of('mine')), true);
  t.same(await kvGet(services).prepare({ key: 'k' }).run(of('mine')), { a: [1] });
  t.equal(await kvGet(services).prepare({ key: 'k' }).run(of('other')), null);
  t.equal(await kvExists(services).prepare({ key: 'k' }).run(of('other')), false);
  t.equal(await kvDel(services).prepare({ key: 'k' }).run(of('other')), false);
  t.equal(await kvDel(services).prepare({ key: 'k' }).run(of('mine')), true);
  t.equal(await kvSet(services).prepare({ key: 'n', value: null }).run(of('mine')), true);
  t.throws(() => kvGet(services).prepare({ key: 'k', pluginId: 'other' }), 'no identity can be claimed');
});

t.test('writes are effects, reads are not; all need the kv grant', async (t) => {
  const services = new PluginServices();
  const prepared = [
    kvSet(services).prepare({ key: 'k', value: 1 }),
    kvDel(services).prepare({ key: 'k' }),
    kvGet(services).prepare({ key: 'k' }),
    kvExists(services).prepare({ key: 'k' }),
  ];
  t.same(
    prepared.map(({ effect }) => effect),
    [true, true, false, false],
  );
  t.same(
    prepared.map(({ need }) => need),
    Array.from({ length: 4 }, () => ({ kv: true })),
  );
  t.throws(() => kvSet(services).prepare({ key: 'k' }), /value must not be undefined/);
});

t.test('what the plugin did wrong is told word for word, what broke inside is not', async (t) => {
  const { failure } = kvGet(new PluginServices());
  t.equal(failure(invalidRequest('invalid key')), 'invalid key');
  t.equal(failure(new AppError('INTERNAL', {})), 'Key-value store error: Internal Server Error');
});
