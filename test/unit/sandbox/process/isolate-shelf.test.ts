/** Threat: an isolate that serves another call although it should not, and isolates that pile up. */
import t from 'tap';
import { type GuestIsolate, GuestProgram, GuestRuntime } from '../../../../sandbox/process/isolate.ts';
import { IsolateShelf } from '../../../../sandbox/process/isolate-shelf.ts';
import type { PluginVersion } from '../../../../sandbox/protocol.ts';
import { guestRuntime, plugin } from '../../../support/sandbox.ts';

const runtime = new GuestRuntime(await guestRuntime());

function shelfOf(version: PluginVersion) {
  const program = new GuestProgram(runtime, version);
  const made: GuestIsolate[] = [];
  const shelf = new IsolateShelf(version, () => {
    const isolate = program.createIsolate(() => '');
    made.push(isolate);
    return isolate;
  });
  const bytes = shelf.open();
  return { shelf, made, bytes };
}

t.test('the first isolate tells the size, and serves', async (t) => {
  const { shelf, made, bytes } = shelfOf(plugin(''));
  t.ok(bytes > 500_000 && bytes < 16e6, `${bytes} bytes`);
  t.equal(shelf.wantsMore, false);
  const isolate = shelf.take();
  t.equal(isolate, made[0]);
  t.equal(shelf.size, 1);
  t.equal(shelf.wantsMore, true);
  shelf.give(isolate, true);
  t.equal(shelf.take(), isolate, 'a clean one serves again');
  t.equal(made.length, 1);
});

t.test('the warmest serves first, and one is made when none waits', async (t) => {
  const { shelf } = shelfOf(plugin(''));
  const [one, other] = [shelf.take(), shelf.take()];
  shelf.give(other, true);
  shelf.give(one, true);
  t.equal(shelf.take(), one);
  t.equal(shelf.size, 2);
});

t.test('one that is not clean, unsound, old or grown does not come back', async (t) => {
  const doubts: Record<string, (isolate: GuestIsolate) => boolean> = {
    'not clean': () => false,
    unsound: (isolate) => {
      isolate.sound = false;
      return true;
    },
    old: (isolate) => {
      isolate.served = 1e6;
      return true;
    },
  };
  for (const [name, spoil] of Object.entries(doubts)) {
    const { shelf } = shelfOf(plugin(''));
    const isolate = shelf.take();
    shelf.give(isolate, spoil(isolate));
    t.equal(shelf.size, 0, name);
    t.equal(isolate.sound, false, `${name}: disposed`);
  }
});

t.test('one comes back up to the bound of its age and of its growth, and not at it', async (t) => {
  const bounds: [name: string, back: boolean, spoil: (isolate: GuestIsolate) => void][] = [
    ['4999 calls', true, (isolate) => Object.assign(isolate, { served: 4999 })],
    ['5000 calls', false, (isolate) => Object.assign(isolate, { served: 5000 })],
    ['just below half of its room', true, (isolate) => Object.assign(isolate, { growth: () => 0.499 })],
    ['half of its room', false, (isolate) => Object.assign(isolate, { growth: () => 0.5 })],
  ];
  for (const [name, back, spoil] of bounds) {
    const { shelf } = shelfOf(plugin(''));
    const isolate = shelf.take();
    spoil(isolate);
    shelf.give(isolate, true);
    t.equal(shelf.size, back ? 1 : 0, name);
  }
});

t.test('one isolate per call: none comes back, more wait ready', async (t) => {
  const { shelf, made } = shelfOf(plugin('', { isolation: 'call' }));
  while (shelf.wantsMore) shelf.prepare();
  t.equal(made.length, 3);
  const isolate = shelf.take();
  shelf.give(isolate, true);
  t.equal(isolate.sound, false);
  t.equal(shelf.size, 2);
});

t.test('waiting isolates take their share of the memory and no more', async (t) => {
  const { shelf, bytes } = shelfOf(plugin('', { limits: { process_mb: 64 } }));
  const room = Math.floor((64 * 1_048_576 * 0.25) / bytes);
  t.ok(room > 1 && room < 20, `${room} may wait`);
  const taken = Array.from({ length: room + 1 }, () => shelf.take());
  for (const isolate of taken) shelf.give(isolate, true);
  t.equal(shelf.size, room);
});

t.test('what a burst left behind is let go when nobody needed it for a while', async (t) => {
  const { shelf } = shelfOf(plugin(''));
  const taken = Array.from({ length: 5 }, () => shelf.take());
  for (const isolate of taken) shelf.give(isolate, true);
  shelf.sweep();
  t.equal(shelf.size, 5, 'they were needed since the last sweep');
  shelf.give(shelf.take(), true);
  shelf.sweep();
  t.equal(shelf.size, 2, 'one was needed, one waits ready');
});

t.test('a drained shelf keeps nothing, and still serves the last calls', async (t) => {
  const { shelf, made } = shelfOf(plugin(''));
  const running = shelf.take();
  shelf.give(shelf.take(), true);
  shelf.drain();
  shelf.drain();
  t.equal(shelf.wantsMore, false);
  const late = shelf.take();
  shelf.give(late, true);
  shelf.give(running, true);
  t.equal(shelf.size, 0);
  t.ok(made.every(({ sound }) => !sound));
});
