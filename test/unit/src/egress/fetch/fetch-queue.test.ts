import t from 'tap';
import { FetchQueue } from '../../../../../src/egress/fetch/fetch-queue.ts';

const never = new AbortController().signal;
const turn = () => new Promise((resolve) => setImmediate(resolve));

function watch(queue: FetchQueue, pluginId: string, call: object, signal = never) {
  const state = { leave: undefined as (() => void) | undefined, failed: undefined as unknown };
  void queue.enter({ pluginId, call }, signal).then(
    (leave) => {
      state.leave = leave;
    },
    (error: unknown) => {
      state.failed = error;
    },
  );
  return state;
}

t.test('so many of one call, so many of one plugin, and the others in order', async (t) => {
  const queue = new FetchQueue({ perCall: 2, perPlugin: 3 });
  const [a, b] = [{}, {}];
  const ofA = [1, 2, 3].map(() => watch(queue, 'p', a));
  await turn();
  t.strictSame(
    ofA.map(({ leave }) => leave !== undefined),
    [true, true, false],
    'the call is at its limit',
  );
  const ofB = [1, 2].map(() => watch(queue, 'p', b));
  await turn();
  t.strictSame(
    ofB.map(({ leave }) => leave !== undefined),
    [true, false],
    'and holds up nobody until the plugin is',
  );
  const other = watch(queue, 'q', {});
  await turn();
  t.ok(other.leave, 'another plugin does not wait');
  ofB[0]?.leave?.();
  await turn();
  t.ok(ofB[1]?.leave, 'who can run goes before who cannot');
  ofA[0]?.leave?.();
  await turn();
  t.ok(ofA[2]?.leave);
});

t.test('who is aborted leaves the queue', async (t) => {
  const queue = new FetchQueue({ perCall: 1, perPlugin: 1 });
  const first = watch(queue, 'p', {});
  const aborter = new AbortController();
  const second = watch(queue, 'p', {}, aborter.signal);
  const third = watch(queue, 'p', {});
  await turn();
  aborter.abort(new Error('enough'));
  first.leave?.();
  await turn();
  t.match(second.failed, { message: 'enough' });
  t.ok(third.leave);
  third.leave?.();
  t.match(await queue.enter({ pluginId: 'p', call: {} }, aborter.signal).catch((error: unknown) => error), {
    message: 'enough',
  });
  t.type(await queue.enter({ pluginId: 'p', call: {} }, never), 'function', 'and nothing is left taken');
});
