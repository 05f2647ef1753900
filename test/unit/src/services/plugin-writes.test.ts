import t from 'tap';
import { AppError, invalidRequest } from '../../../../src/domain/errors.ts';
import { PluginWrites } from '../../../../src/services/plugin-writes.ts';
import type { Store } from '../../../../src/store/store.ts';
import { storeFor } from '../../../support/store.ts';

/** A store that counts its commits. */
function counted(store: Store): { store: Store; commits: () => number } {
  let commits = 0;
  const write: Store['write'] = (body) => {
    commits += 1;
    return store.write(body);
  };
  return { store: { ...store, write }, commits: () => commits };
}

t.test('writes of a plugin keep their order, and share commits', async (t) => {
  const { store, commits } = counted(await storeFor(t));
  const writes = new PluginWrites(store);
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: 65 }, (_, index) =>
      writes.run('p', 10, async (writer) => {
        order.push(index);
        await writer.kvSet('p', 'last', String(index));
      }),
    ),
  );
  t.strictSame(order, [...order.keys()]);
  t.equal(await store.read.kvGet('p', 'last'), '64');
  t.ok(commits() >= 3 && commits() < 6, `${commits()} commits: 32 share one`);
});

t.test('large writes share none', async (t) => {
  const { store, commits } = counted(await storeFor(t));
  const writes = new PluginWrites(store);
  await Promise.all([1, 2, 3].map((n) => writes.run('p', 200_000, (writer) => writer.kvSet('p', 'k', String(n)))));
  t.equal(commits(), 3);
});

t.test('what is done alone keeps its place among the others', async (t) => {
  const { store } = counted(await storeFor(t));
  const writes = new PluginWrites(store);
  const order: string[] = [];
  const note = (name: string) => async () => {
    order.push(name);
    return name;
  };
  const ended = await Promise.all([
    writes.run('p', 0, note('one')),
    writes.run('p', 0, note('two')),
    writes.runAlone('p', note('alone')),
    writes.run('p', 0, note('three')),
  ]);
  t.strictSame(order, ['one', 'two', 'alone', 'three']);
  t.strictSame(ended, order);
});

t.test('a flood of one plugin stands behind itself', async (t) => {
  const { store } = counted(await storeFor(t));
  const writes = new PluginWrites(store);
  let flooded = 0;
  const flood = Array.from({ length: 2000 }, () =>
    writes
      .run('flood', 10, (writer) => writer.kvSet('flood', 'k', '1'))
      .then(() => {
        flooded += 1;
      }),
  );
  await writes.run('calm', 10, (writer) => writer.kvSet('calm', 'k', '1'));
  t.ok(flooded < 1000, `${flooded} of 2000 came first`);
  await Promise.all(flood);
});

t.test('a refusal is its own, a fault is everybody’s in its commit', async (t) => {
  const store = await storeFor(t);
  const writes = new PluginWrites(store);
  const set = (key: string) => writes.run('p', 0, (writer) => writer.kvSet('p', key, '1'));
  const first = set('first');
  const refused = writes.run('p', 0, () => Promise.reject(invalidRequest('no')));
  const [, refusal, second] = await Promise.allSettled([first, refused, set('second')]);
  t.match(refusal, { status: 'rejected', reason: { message: 'no' } });
  t.match(second, { status: 'fulfilled' });
  t.equal(await store.read.kvHas('p', 'second'), true);

  for (const fault of [new Error('broken'), new AppError('UNAVAILABLE', { reason: 'gone' })]) {
    const before = set('before');
    const [broken, beside] = await Promise.allSettled([
      writes.run('p', 0, () => Promise.reject(fault)),
      set('beside'),
      before,
    ]);
    t.match(broken, { status: 'rejected', reason: fault });
    t.match(beside, { status: 'rejected', reason: fault });
    t.equal(await store.read.kvHas('p', 'beside'), false);
  }
  await t.resolves(set('after'), 'and the line goes on');
  await t.rejects(
    writes.runAlone('p', () => Promise.reject(new Error('mine'))),
    { message: 'mine' },
  );
  await t.resolves(set('after'));
});
