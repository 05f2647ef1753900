import t from 'tap';
import { create } from '../../../../../sandbox/guest/lazy/dom.ts';
import { LAZY_GLOBALS } from '../../../../../sandbox/guest/lazy-modules.ts';
import { runtimeServices } from '../../../../support/guest-web.ts';

t.test('the part makes the names it stands for, which know each other', (t) => {
  const reported: unknown[] = [];
  const made = create({ ...runtimeServices(), report: (error) => reported.push(error) });
  t.strictSame(
    Object.keys(made).sort(),
    [...LAZY_GLOBALS.dom, 'clone', 'defineHandler', 'fire', 'showAs', 'watch'].sort(),
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
