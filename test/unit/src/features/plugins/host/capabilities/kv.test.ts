import t from 'tap';
import { FIXED_LIMITS } from '../../../../../../../sandbox/contract.ts';
import { AppError, invalidRequest } from '../../../../../../../src/domain/errors.ts';
import { bound, PluginServices } from '../../../../../../support/plugin-services.ts';
import { principalOf } from '../../../../../../support/principal.ts';

const [mine, other] = [principalOf('mine'), principalOf('other')];

t.test('each plugin has its own keys, whoever it says it is', async (t) => {
  const services = new PluginServices();
  const set = bound(services, 'kv.set').prepare({ key: 'k', value: '{"a":[1]}', ttlSec: 0.5 });
  t.equal(await set.run(mine), true);
  t.same(await bound(services, 'kv.get').prepare({ key: 'k' }).run(mine), '{"a":[1]}');
  t.equal(await bound(services, 'kv.get').prepare({ key: 'k' }).run(other), null);
  t.equal(await bound(services, 'kv.exists').prepare({ key: 'k' }).run(other), false);
  t.equal(await bound(services, 'kv.del').prepare({ key: 'k' }).run(other), false);
  t.strictSame(await bound(services, 'kv.listKeys').prepare({ prefix: '' }).run(other), []);
  t.equal(await bound(services, 'kv.clear').prepare({}).run(other), 0);
  t.strictSame(await bound(services, 'kv.listKeys').prepare({ prefix: 'k' }).run(mine), ['k']);
  t.strictSame(await bound(services, 'kv.listKeys').prepare({ prefix: '', after: 'k' }).run(mine), []);
  t.equal(await bound(services, 'kv.del').prepare({ key: 'k' }).run(mine), true);
  t.equal(await bound(services, 'kv.set').prepare({ key: 'n', value: 'null' }).run(mine), true);
  t.equal(await bound(services, 'kv.clear').prepare({}).run(mine), 1);
  t.throws(() => bound(services, 'kv.get').prepare({ key: 'k', pluginId: 'other' }), 'no identity can be claimed');
});

t.test('writes and locks are effects, reads are not; all need the kv grant', async (t) => {
  const services = new PluginServices();
  const prepared = [
    bound(services, 'kv.set').prepare({ key: 'k', value: '1' }),
    bound(services, 'kv.del').prepare({ key: 'k' }),
    bound(services, 'kv.clear').prepare({}),
    bound(services, 'kv.lock').prepare({ key: 'k', ttlSec: 1 }),
    bound(services, 'kv.unlock').prepare({ key: 'k', fence: 1 }),
    bound(services, 'kv.get').prepare({ key: 'k' }),
    bound(services, 'kv.exists').prepare({ key: 'k' }),
    bound(services, 'kv.listKeys').prepare({ prefix: '' }),
  ];
  t.same(
    prepared.map(({ effect }) => effect),
    [true, true, true, true, false, false, false, false],
  );
  t.same(
    prepared.map(({ need }) => need),
    prepared.map(() => ({ kv: true })),
  );
  t.throws(() => bound(services, 'kv.set').prepare({ key: 'k' }));
  t.throws(() => bound(services, 'kv.set').prepare({ key: 'k', value: { a: 1 } }), 'a value is text');
  for (const ttlSec of [0, -1, '1', null]) t.throws(() => bound(services, 'kv.lock').prepare({ key: 'k', ttlSec }));
});

t.test('a lock belongs to the call that took it, until that gives it back or ends', async (t) => {
  const services = new PluginServices();
  const [one, two] = [principalOf('mine'), principalOf('mine')];
  const lock = (key = 'k') => bound(services, 'kv.lock').prepare({ key, ttlSec: 1 });
  const unlock = (fence: number) => bound(services, 'kv.unlock').prepare({ key: 'k', fence });
  const fence = Number(await lock().run(one));
  t.ok(fence > 0);
  t.equal(await lock().run(two), null);
  t.equal(await unlock(fence).run(two), false, 'only who holds it gives it back');
  t.strictSame(one.kvCaller.locks, [{ name: 'k', fence }]);
  t.equal(await bound(services, 'kv.set').prepare({ key: 'a', value: '1' }).run(one), true);
  t.equal(await unlock(fence).run(one), true);
  t.strictSame(one.kvCaller.locks, []);

  t.ok(await lock().run(two));
  t.ok(await lock('other').run(two));
  two.locks.end();
  t.equal(services.locks.size, 0);
  t.ok(await lock().run(two), 'what was on its way when the call ended');
  t.equal(services.locks.size, 0);
});

t.test('a lock that could not be given back is tried again at the end of the call', async (t) => {
  const services = new PluginServices();
  const principal = principalOf('mine');
  const fence = Number(await bound(services, 'kv.lock').prepare({ key: 'k', ttlSec: 1 }).run(principal));
  const { unlock } = services.kv;
  services.kv.unlock = () => Promise.reject(new AppError('UNAVAILABLE', { reason: 'gone' }));
  await t.rejects(bound(services, 'kv.unlock').prepare({ key: 'k', fence }).run(principal), /gone/);
  services.kv.unlock = unlock;
  principal.locks.end();
  t.equal(services.locks.size, 0);
});

t.test('a call holds so many locks, none longer than it may last', async (t) => {
  const services = new PluginServices();
  const principal = principalOf('mine');
  const asked: number[] = [];
  const { lock } = services.kv;
  services.kv.lock = (caller, name, forMs, ...rest) => {
    asked.push(forMs);
    return lock(caller, name, forMs, ...rest);
  };
  const take = (key: string, ttlSec: number) => bound(services, 'kv.lock').prepare({ key, ttlSec }).run(principal);
  for (let index = 0; index < FIXED_LIMITS.locks; index += 1) await take(`k${index}`, index === 0 ? 1e9 : 0.25);
  await t.rejects(take('more', 1), { message: 'a call may hold at most 64 locks' });
  t.strictSame(asked.slice(0, 2), [principal.timeoutMs, 250]);
});

t.test('what the plugin did wrong is told word for word, what broke inside is not', async (t) => {
  const { failure } = bound(new PluginServices(), 'kv.get');
  t.equal(failure(invalidRequest('invalid key')), 'invalid key');
  t.equal(failure(new AppError('INTERNAL', {})), 'Key-value store error: Internal Server Error');
});
