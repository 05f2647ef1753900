import t from 'tap';
import { createAbortClasses } from '../../../../../../sandbox/guest/globals/events/abort.ts';
import { createEventClasses } from '../../../../../../sandbox/guest/globals/events/event-target.ts';

const timers: [callback: () => void, delayMs: number][] = [];
/** Which of the timers were unref'd. */
const unheld: number[] = [];
const { AbortController, AbortSignal } = createAbortClasses(
  createEventClasses(() => {}),
  (callback, delayMs) => {
    timers.push([callback, delayMs]);
    return { unref: () => unheld.push(timers.length) };
  },
);

t.test('a controller aborts its signal once', (t) => {
  const controller = new AbortController();
  const { signal } = controller;
  t.equal(controller.signal, signal);
  const seen: string[] = [];
  signal.addEventListener('abort', () => seen.push('listener'));
  signal.onabort = () => seen.push('onabort');
  signal.throwIfAborted();
  const reason = new Error('mine');
  controller.abort(reason);
  controller.abort(new Error('again'));
  t.strictSame(seen, ['listener', 'onabort']);
  t.ok(signal.aborted);
  t.equal(signal.reason, reason);
  t.throws(() => signal.throwIfAborted(), reason);
  const usual = new AbortController();
  usual.abort();
  t.match(usual.signal.reason, { name: 'AbortError', code: 20 });
  t.throws(() => Reflect.construct(AbortSignal, []), /Illegal constructor/);
  t.equal(
    `${Object.prototype.toString.call(controller)} ${Object.prototype.toString.call(signal)}`,
    '[object AbortController] [object AbortSignal]',
  );
  t.end();
});

t.test('signals of time, and of other signals', (t) => {
  t.equal(AbortSignal.abort('why').reason, 'why');
  const late = AbortSignal.timeout(250);
  const controller = new AbortController();
  const any = AbortSignal.any([late, controller.signal]);
  t.notOk(any.aborted);
  t.equal(timers[0]?.[1], 250);
  timers[0]?.[0]();
  t.match(late.reason, { name: 'TimeoutError' });
  t.equal(any.reason, late.reason);
  controller.abort('later');
  t.equal(any.reason, late.reason);
  t.equal(AbortSignal.any([controller.signal]).reason, 'later');
  t.notOk(AbortSignal.any([]).aborted);
  t.end();
});

t.test('all signals that are made of one are aborted before anybody hears', (t) => {
  const controller = new AbortController();
  const one = AbortSignal.any([controller.signal]);
  const two = AbortSignal.any([one]);
  const seen: unknown[] = [];
  two.addEventListener('abort', () => seen.push('two'));
  one.onabort = () => seen.push('never');
  one.addEventListener('abort', () => seen.push('one', two.aborted));
  one.onabort = () => seen.push('handler');
  controller.signal.addEventListener('abort', () => seen.push('source', one.aborted));
  controller.abort(5);
  t.strictSame(seen, ['source', true, 'handler', 'one', true, 'two']);
  t.strictSame([one.reason, two.reason, AbortSignal.any([two]).reason], [5, 5, 5]);
  t.end();
});
