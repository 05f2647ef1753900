import t from 'tap';
import { createEventClasses } from '../../../../../../sandbox/guest/globals/events/event-target.ts';

const reported: unknown[] = [];
const { Event, EventTarget } = createEventClasses((error) => reported.push(error));

t.test('listeners run in order, once each, until they are removed', (t) => {
  const target = new EventTarget();
  const seen: unknown[] = [];
  const first = function (this: unknown, event: unknown) {
    seen.push('first', this === target, (event as InstanceType<typeof Event>).currentTarget === target);
  };
  target.addEventListener('go', first);
  target.addEventListener('go', first);
  target.addEventListener('go', { handleEvent: () => seen.push('object') }, { once: true });
  target.addEventListener('go', null);
  target.addEventListener('other', () => seen.push('other'));
  const event = new Event('go');
  t.equal(target.dispatchEvent(event), true);
  t.equal(event.target, target);
  t.equal(event.currentTarget, null);
  target.dispatchEvent(new Event('go'));
  target.removeEventListener('go', first);
  target.removeEventListener('go', first);
  target.removeEventListener('never', first, true);
  target.dispatchEvent(new Event('go'));
  t.strictSame(seen, ['first', true, true, 'object', 'first', true, true]);
  t.end();
});

t.test('events say what they are and what became of them', (t) => {
  const target = new EventTarget();
  target.addEventListener('go', (event) => {
    const given = event as InstanceType<typeof Event>;
    t.strictSame([given.eventPhase, given.composedPath()], [2, [target]]);
    given.stopPropagation();
    given.preventDefault();
    given.stopImmediatePropagation();
  });
  target.addEventListener('go', () => t.fail('was stopped'));
  const event = new Event('go', { cancelable: true, bubbles: true });
  t.equal(target.dispatchEvent(event), false);
  t.match(event, {
    defaultPrevented: true,
    bubbles: true,
    composed: false,
    isTrusted: false,
    srcElement: target,
    eventPhase: 0,
  });
  t.strictSame(event.composedPath(), []);
  t.type(event.timeStamp, 'number');
  const fixed = new Event('other');
  fixed.preventDefault();
  t.equal(fixed.defaultPrevented, false);
  t.equal(
    `${Object.prototype.toString.call(fixed)} ${Object.prototype.toString.call(target)}`,
    '[object Event] [object EventTarget]',
  );
  t.end();
});

t.test('a listener that throws is reported, and the next one runs', (t) => {
  const target = new EventTarget();
  const error = new Error('mine');
  let ran = false;
  target.addEventListener('go', () => {
    throw error;
  });
  target.addEventListener('go', () => {
    ran = true;
  });
  target.dispatchEvent(new Event('go'));
  t.strictSame(reported, [error]);
  t.ok(ran);
  t.end();
});

t.test('a signal takes listeners away', (t) => {
  const signal = Object.assign(new EventTarget(), { aborted: false });
  const target = new EventTarget();
  let runs = 0;
  target.addEventListener('go', () => runs++, { signal });
  signal.dispatchEvent(new Event('abort'));
  target.dispatchEvent(new Event('go'));
  target.addEventListener('go', () => runs++, { signal: { aborted: true, addEventListener() {} } });
  target.dispatchEvent(new Event('go'));
  t.equal(runs, 0);
  let removed = 0;
  const second = () => removed++;
  target.addEventListener('two', () => target.removeEventListener('two', second));
  target.addEventListener('two', second, false);
  target.dispatchEvent(new Event('two'));
  t.equal(removed, 0, 'one that was removed on the way does not run');
  t.end();
});

t.test('can be subclassed', (t) => {
  class Detailed extends Event {
    readonly detail = 7;
  }
  class Source extends EventTarget {}
  const source = new Source();
  let detail = 0;
  source.addEventListener('go', (event) => {
    detail = (event as Detailed).detail;
  });
  source.dispatchEvent(new Detailed('go'));
  t.equal(detail, 7);
  t.end();
});

t.test('an event is dispatched once at a time, and what is dispatched is an event', (t) => {
  const target = new EventTarget();
  const event = new Event('x', { cancelable: true });
  let name = '';
  target.addEventListener('x', () => {
    try {
      target.dispatchEvent(event);
    } catch (error) {
      ({ name } = error as Error);
    }
  });
  target.addEventListener('x', (one) => (one as Event).preventDefault(), { passive: true });
  t.equal(target.dispatchEvent(event), true);
  t.equal(name, 'InvalidStateError');
  t.equal(target.dispatchEvent(event), true, 'and again when that is over');
  t.ok(event.returnValue);
  t.notOk(event.cancelBubble);
  event.returnValue = false;
  t.ok(event.defaultPrevented);
  t.throws(() => target.dispatchEvent({ type: 'x' } as never), TypeError);
  t.throws(() => new (Event as unknown as new () => object)(), TypeError);
  t.end();
});
