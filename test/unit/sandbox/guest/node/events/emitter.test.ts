import * as node from 'node:events';
import t from 'tap';
import { createEvents } from '../../../../../../sandbox/guest/lazy/events.ts';
import { sameAsNode } from '../../../../../support/same-as-node.ts';

type Module = typeof node.EventEmitter;
const ours = createEvents(() => undefined) as unknown as Module;

t.test('listeners come and go as in Node', async (t) => {
  await sameAsNode<Module>(t, ours, node.EventEmitter, {
    order(Emitter) {
      const seen: unknown[] = [];
      const emitter = new Emitter();
      const all = ['newListener', 'removeListener'].map((name) =>
        emitter.on(name, (event, listener) => seen.push([name, event, listener.name])),
      );
      const first = (...args: unknown[]) => seen.push(['first', ...args]);
      emitter.on('a', first).once('a', function second(this: unknown) {
        seen.push(['second', this === emitter]);
      });
      emitter.prependListener('a', () => seen.push('zeroth'));
      emitter.prependOnceListener('a', () => seen.push('before'));
      seen.push(emitter.emit('a', 1, 2), emitter.emit('a'), emitter.emit('none'));
      seen.push(emitter.listenerCount('a'), emitter.listenerCount('a', first), emitter.eventNames());
      emitter.off('a', first).removeListener('a', first);
      seen.push(emitter.rawListeners('a').length, all.length);
      return seen;
    },
    'a listener added or removed meanwhile'(Emitter) {
      const emitter = new Emitter();
      const seen: string[] = [];
      const removed = () => seen.push('removed');
      emitter.on('a', () => {
        seen.push('first');
        emitter.removeListener('a', removed);
        emitter.on('a', () => seen.push('added'));
      });
      emitter.on('a', removed);
      emitter.emit('a');
      emitter.emit('a');
      return seen;
    },
    'listeners of once'(Emitter) {
      const emitter = new Emitter();
      const listener = () => 1;
      emitter.once('a', listener);
      const [raw] = emitter.rawListeners('a') as (Function & { listener?: unknown })[];
      return [
        emitter.listeners('a')[0] === listener,
        raw?.listener === listener,
        emitter.off('a', listener).eventNames(),
      ];
    },
    'all removed'(Emitter) {
      const seen: unknown[] = [];
      const emitter = new Emitter();
      const symbol = Symbol('s');
      for (const name of ['a', 'b', symbol]) emitter.on(name, () => {}).on(name, () => {});
      emitter.removeAllListeners('a');
      seen.push(emitter.eventNames());
      emitter.on('removeListener', (name) => seen.push(name));
      emitter.removeAllListeners('b').removeAllListeners();
      return [
        ...seen,
        emitter.eventNames(),
        new Emitter()
          .on('x', () => {})
          .removeAllListeners()
          .eventNames(),
      ];
    },
    'an error that nobody hears': (Emitter) => new Emitter().emit('error', new TypeError('mine')),
    'an error that is none': (Emitter) => new Emitter().emit('error', 'text'),
    'no error at all': (Emitter) => new Emitter().emit('error'),
    'a monitor of errors'(Emitter) {
      const seen: unknown[] = [];
      const emitter = new Emitter().on(node.errorMonitor, () => seen.push('node'));
      emitter.on((Emitter as unknown as { errorMonitor: symbol }).errorMonitor, () => seen.push('own'));
      try {
        emitter.emit('error', new Error('x'));
      } catch {
        seen.push('thrown');
      }
      return seen.slice(-2);
    },
    'no listener': (Emitter) => new Emitter().on('a', 5 as never),
    'no options': (Emitter) => new Emitter({ captureRejections: 5 as never }),
    limits(Emitter) {
      const emitter = new Emitter();
      return [emitter.getMaxListeners(), emitter.setMaxListeners(0).getMaxListeners(), Emitter.defaultMaxListeners];
    },
    'a limit that is none': (Emitter) => new Emitter().setMaxListeners(-1),
    'a default that is none'(Emitter) {
      Emitter.defaultMaxListeners = 'x' as never;
    },
    'classes of old'(Emitter) {
      function Old(this: object) {
        (Emitter as unknown as Function).call(this);
      }
      Object.setPrototypeOf(Old.prototype, Emitter.prototype);
      const made = new (Old as unknown as new () => node.EventEmitter)();
      const lazy = Object.create(Emitter.prototype) as node.EventEmitter;
      const seen: unknown[] = [];
      for (const one of [made, lazy]) one.on('a', (value) => seen.push(value)).emit('a', 1);
      return [
        ...seen,
        made instanceof Emitter,
        Object.keys(made),
        (lazy as unknown as { _eventsCount: number })._eventsCount,
      ];
    },
    async 'captured rejections'(Emitter) {
      const seen: unknown[] = [];
      const emitter = new Emitter({ captureRejections: true });
      emitter.on('error', (error) => seen.push(String(error)));
      const rejecting = (text: string) => (): unknown => Promise.reject(new Error(text));
      emitter.on('a', rejecting('rejected'));
      emitter.emit('a');
      const own = Object.assign(new Emitter({ captureRejections: true }), {
        [Symbol.for('nodejs.rejection')]: (error: Error, name: string) => seen.push([error.message, name]),
      });
      own.on('b', rejecting('own'));
      own.emit('b');
      await new Promise((resolve) => setImmediate(resolve));
      return seen;
    },
  });
});

t.test('a listener too many is said once', (t) => {
  const lines = t.capture(console, 'warn');
  const emitter = new ours();
  for (let index = 0; index < 13; index++) emitter.on('a', () => {});
  const said = lines().map(({ args }) => String(args[0]));
  t.match(said, [/11 a listeners added to \[EventEmitter\]\. MaxListeners is 10/]);
  t.equal(said.length, 1);
  t.end();
});
