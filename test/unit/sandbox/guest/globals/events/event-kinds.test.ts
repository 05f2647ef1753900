import t from 'tap';
import { createEventKinds } from '../../../../../../sandbox/guest/globals/events/event-kinds.ts';
import { createEventClasses } from '../../../../../../sandbox/guest/globals/events/event-target.ts';

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
