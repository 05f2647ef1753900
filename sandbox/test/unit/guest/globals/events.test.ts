import t from 'tap';
import { createAbortClasses } from '../../../../guest/globals/events/abort.ts';
import { createEventKinds } from '../../../../guest/globals/events/event-kinds.ts';
import { createEventClasses } from '../../../../guest/globals/events/event-target.ts';
import { createMessageClasses } from '../../../../guest/globals/events/message-channel.ts';
import { createReporting } from '../../../../guest/lazy/messages.ts';

t.test('abort', async (t) => {
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
});

t.test('event kinds', async (t) => {
  const events = createEventClasses(() => undefined);
  const { Event } = events;
  const kinds = createEventKinds(events);
  type Kind = new (type: string, settings?: object) => Record<string, unknown>;
  const { CustomEvent, ErrorEvent, MessageEvent, PromiseRejectionEvent } = kinds as unknown as Record<
    keyof typeof kinds,
    Kind
  >;

  t.test('each carries what it was given, or nothing', (t) => {
    t.strictSame([new CustomEvent('x')['detail'], new CustomEvent('x', { detail: 5 })['detail']], [null, 5]);
    const error = new ErrorEvent('error', { message: 'm', lineno: 3, error: 'e' });
    t.strictSame(
      [error['message'], error['filename'], error['lineno'], error['colno'], error['error']],
      ['m', '', 3, 0, 'e'],
    );
    t.strictSame([new MessageEvent('message', { data: [1] })['data'], new MessageEvent('x')['origin']], [[1], '']);
    const promise = Promise.resolve();
    const rejection = new PromiseRejectionEvent('unhandledrejection', { promise, reason: 1, cancelable: true });
    t.strictSame([rejection['promise'], rejection['reason'], rejection['cancelable']], [promise, 1, true]);
    t.equal(String(new CustomEvent('x')), '[object CustomEvent]');
    t.equal(CustomEvent.name, 'CustomEvent');
    t.ok(new CustomEvent('x') instanceof Event);
    t.throws(() => new (CustomEvent as unknown as new () => object)(), TypeError);
    t.throws(() => new PromiseRejectionEvent('x'), TypeError);
    t.end();
  });
});

t.test('event target', async (t) => {
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
});

t.test('messages', async (t) => {
  const events = createEventClasses(() => undefined);
  const made = createMessageClasses({
    events,
    MessageEvent: createEventKinds(events).MessageEvent,
    DOMException,
    clone: (value, transfer) => ({
      value: structuredClone(value, { transfer: [...transfer] as ArrayBuffer[] }),
      moved: [],
    }),
    setTimer: setImmediate,
  });

  /** What the next turns bring. */
  const turns = async (count = 5) => {
    for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  const dataOf = (event: unknown) => (event as { data: unknown }).data;

  t.test('messages are copies, and come in order and later', async (t) => {
    const { port1, port2 } = new made.MessageChannel();
    const seen: unknown[] = [];
    port2.onmessage = (event) => seen.push(dataOf(event));
    const buffer = new ArrayBuffer(2);
    port1.postMessage({ a: [1] });
    port1.postMessage(buffer, [buffer]);
    port1.postMessage('last', {});
    t.strictSame(seen, []);
    await turns();
    t.strictSame([seen[0], (seen[1] as ArrayBuffer).byteLength, seen[2]], [{ a: [1] }, 2, 'last']);
    t.ok(buffer.detached);
    t.throws(() => port1.postMessage(() => 1), { name: 'DataCloneError' });
    t.equal(String(port1), '[object MessagePort]');
  });

  t.test('a listener hears once the port is started, and nothing after the end', async (t) => {
    const { port1, port2 } = new made.MessageChannel();
    const seen: unknown[] = [];
    port2.addEventListener('message', (event) => seen.push(dataOf(event)));
    port1.postMessage(1);
    await turns();
    t.strictSame(seen, []);
    port2.start();
    await turns();
    t.strictSame(seen, [1]);
    port1.postMessage(2);
    port2.close();
    port2.close();
    port1.postMessage(3);
    await turns();
    t.strictSame(seen, [1]);
    t.throws(() => new made.MessagePort(), TypeError);
    t.throws(() => (port1.postMessage as () => void)(), TypeError);
  });
});

/** Threat: a handler of errors that fails itself, or asks for itself for ever. */
t.test('reporting', async (t) => {
  function reporting() {
    const events = createEventClasses(() => undefined);
    const uncaught: unknown[] = [];
    const handlers: Record<string, unknown> = {};
    const changes = { count: 0 };
    const made = createReporting(events, createEventKinds(events), {
      global: {},
      handlers,
      uncaught: (error) => uncaught.push(error),
      changed: () => {
        changes.count += 1;
      },
    });
    return { ...made, uncaught, handlers, changes };
  }

  t.test('errors pass by the handler and the listeners', (t) => {
    const { handled, handlers, addEventListener, removeEventListener, dispatchEvent } = reporting();
    const error = new RangeError('r');
    t.notOk(handled(error));
    handlers['onerror'] = (message: unknown, _file: unknown, _line: unknown, _column: unknown, given: unknown) =>
      given === error && message === 'Uncaught RangeError: r';
    t.ok(handled(error));
    t.notOk(handled('text'));
    const prevent = (event: unknown) => (event as Event).preventDefault();
    addEventListener('error', prevent);
    t.ok(handled('text'));
    removeEventListener('error', prevent);
    t.notOk(handled('text'));
    t.throws(() => dispatchEvent({} as never), TypeError);
    t.end();
  });

  t.test('a handler that fails has dealt with nothing', (t) => {
    const { handled, handlers, reportError, uncaught } = reporting();
    handlers['onerror'] = () => {
      t.notOk(handled('again'));
      throw new Error('own');
    };
    t.throws(() => handled('x'), /own/);
    t.throws(() => handled('x'), /own/, 'and may fail again');
    reportError('told');
    t.strictSame(uncaught, ['told']);
    t.throws(() => (reportError as () => void)(), TypeError);
    t.end();
  });

  t.test('listeners of the global object, which outlive a call, are told of', (t) => {
    const { changes, addEventListener, removeEventListener } = reporting();
    const listener = () => undefined;
    removeEventListener('error', listener);
    t.equal(changes.count, 0);
    addEventListener('error', listener);
    addEventListener('error', listener);
    t.equal(changes.count, 1);
    removeEventListener('error', listener);
    t.equal(changes.count, 2);
    t.end();
  });
});
