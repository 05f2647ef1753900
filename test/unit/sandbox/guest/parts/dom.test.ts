import t from 'tap';
import { PART_GLOBALS } from '../../../../../sandbox/guest/globals/lazy-parts.ts';
import { part } from '../../../../../sandbox/guest/parts/dom.ts';
import { partWorld } from '../../../../support/guest-web.ts';

t.test('the part makes the names it stands for, which know each other', (t) => {
  const reported: unknown[] = [];
  const made = part({ ...partWorld(), report: (error) => reported.push(error) });
  t.strictSame(
    Object.keys(made).sort(),
    [...PART_GLOBALS.dom, 'clone', 'defineHandler', 'fire', 'showAs', 'watch'].sort(),
  );
  const { DOMException, AbortController, EventTarget, Event, crypto } = made as unknown as typeof globalThis;
  const controller = new AbortController();
  t.ok(controller.signal instanceof EventTarget);
  controller.abort();
  t.ok(controller.signal.reason instanceof DOMException);
  t.match(crypto.randomUUID(), /^[\da-f-]{36}$/);
  const target = new EventTarget();
  target.addEventListener('go', () => {
    throw new Error('mine');
  });
  target.dispatchEvent(new Event('go'));
  t.match(reported, [{ message: 'mine' }]);
  t.end();
});
