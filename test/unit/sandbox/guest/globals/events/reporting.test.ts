/** Threat: a handler of errors that fails itself, or asks for itself for ever. */
import t from 'tap';
import { createEventKinds } from '../../../../../../sandbox/guest/globals/events/event-kinds.ts';
import { createEventClasses } from '../../../../../../sandbox/guest/globals/events/event-target.ts';
import { createReporting } from '../../../../../../sandbox/guest/lazy/messages.ts';

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
