import { EventEmitter } from 'node:events';
import t from 'tap';
import { cutStalledReaders } from '../../../../src/http/stalled-readers.ts';

/** Whether a connection that timed out with this many unsent bytes is cut. */
function quietWith(writableLength: number) {
  let isCut = false;
  const raw = new EventEmitter();
  const app = {
    addHook: (_name: string, hook: (request: unknown, reply: { raw: EventEmitter }, done: () => void) => void) =>
      hook({}, { raw }, () => undefined),
  };
  cutStalledReaders(app as never);
  raw.emit('timeout', { writableLength, destroy: () => (isCut = true) });
  return isCut;
}

t.test('a quiet connection is cut when it has something to read, not when a handler takes its time', async (t) => {
  t.ok(quietWith(1));
  t.notOk(quietWith(0));
});
