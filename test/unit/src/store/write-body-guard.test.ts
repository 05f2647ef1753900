import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { StoreUnavailable } from '../../../../src/domain/errors.ts';
import { BodyGuard } from '../../../../src/store/write-body-guard.ts';

const node = { kind: 'RawNode' } as never;
const transform = (plugin: BodyGuard['inside']) => plugin.transformQuery({ node, queryId: { queryId: '1' } });

t.test('inside and outside are told apart, across awaits', async (t) => {
  const guard = new BodyGuard();
  t.equal(transform(guard.outside), node);
  t.throws(() => transform(guard.inside), /has ended/);
  const { ended } = guard.enter(async () => {
    await nextTurn();
    t.equal(transform(guard.inside), node);
    t.throws(() => guard.assertOutside(), /Inside a write body/);
    t.throws(() => transform(guard.outside), /Inside a write body/);
    return 7;
  });
  t.equal(transform(guard.outside), node, 'others are outside meanwhile');
  t.equal(await ended, 7);
});

t.test('what a body leaves behind is outside, and has no writer', async (t) => {
  const guard = new BodyGuard();
  const { promise: later, resolve: goOn } = Promise.withResolvers<void>();
  let left: Promise<void> | undefined;
  await guard.enter(async () => {
    left = later.then(() => {
      t.equal(transform(guard.outside), node);
      t.throws(() => transform(guard.inside), /has ended/);
    });
  }).ended;
  goOn();
  await left;
});

t.test('an abandoned body has no writer any more', async (t) => {
  const guard = new BodyGuard();
  const { promise: later, resolve: goOn } = Promise.withResolvers<void>();
  const { ended, abandon } = guard.enter(async () => {
    await later;
    transform(guard.inside);
  });
  abandon();
  goOn();
  await t.rejects(ended, /has ended/);
});

t.test('results pass through, and a closed store is not asked', async (t) => {
  const guard = new BodyGuard();
  const result = { rows: [] };
  t.equal(await guard.outside.transformResult({ result, queryId: { queryId: '1' } }), result);
  guard.close();
  t.throws(() => transform(guard.outside), { code: 'UNAVAILABLE' });
  t.throws(() => guard.assert('outside'), StoreUnavailable);
});

t.test('queries that are compiled already are told apart as well', async (t) => {
  const guard = new BodyGuard();
  guard.assert('outside');
  t.throws(() => guard.assert('inside'), /has ended/);
  await guard.enter(async () => {
    guard.assert('inside');
    t.throws(() => guard.assert('outside'), /Inside a write body/);
  }).ended;
  t.throws(() => guard.assert('inside'), /has ended/);
});
