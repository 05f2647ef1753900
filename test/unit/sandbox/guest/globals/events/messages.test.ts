import t from 'tap';
import { createEventKinds } from '../../../../../../sandbox/guest/globals/events/event-kinds.ts';
import { createEventClasses } from '../../../../../../sandbox/guest/globals/events/event-target.ts';
import { createMessageClasses } from '../../../../../../sandbox/guest/globals/events/messages.ts';

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
