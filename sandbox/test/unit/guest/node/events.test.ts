import * as nodeEvents from 'node:events';
import t from 'tap';
import { addAbortListener, createEvents, on, once } from '../../../../guest/lazy/events.ts';
import { sameAsNode } from '../../../support/same-as-node.ts';

t.test('emitter', async (t) => {
  type Module = typeof nodeEvents.EventEmitter;
  const ours = createEvents(() => undefined) as unknown as Module;

  t.test('listeners come and go as in Node', async (t) => {
    await sameAsNode<Module>(t, ours, nodeEvents.EventEmitter, {
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
        const emitter = new Emitter().on(nodeEvents.errorMonitor, () => seen.push('node'));
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
        const made = new (Old as unknown as new () => nodeEvents.EventEmitter)();
        const lazy = Object.create(Emitter.prototype) as nodeEvents.EventEmitter;
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
});

t.test('events', async (t) => {
  type Module = typeof nodeEvents.EventEmitter & typeof nodeEvents;
  const changes: string[] = [];
  const ours = createEvents(() => changes.push('told')) as unknown as Module;

  t.test('the module is its constructor, with what Node has on it', async (t) => {
    const missing = Object.keys(nodeEvents.EventEmitter).filter((name) => !(name in ours));
    t.strictSame(missing, []);
    t.equal(ours.EventEmitter, ours);
    await sameAsNode<Module>(t, ours, nodeEvents.EventEmitter as unknown as Module, {
      functions(module) {
        const emitter = new module();
        const listener = () => {};
        emitter.once('a', listener);
        module.setMaxListeners(3, emitter);
        return [
          module.getEventListeners(emitter, 'a')[0] === listener,
          module.listenerCount(emitter, 'a'),
          module.getMaxListeners(emitter),
          module.captureRejectionSymbol,
        ];
      },
      defaults(module) {
        module.setMaxListeners(12);
        const changed = [module.defaultMaxListeners, new module().getMaxListeners()];
        module.defaultMaxListeners = 10;
        module.captureRejections = false;
        return [...changed, module.defaultMaxListeners, module.captureRejections];
      },
      'a limit that is none': (module) => module.setMaxListeners(-1),
      'a resource'(module) {
        const emitter = new module.EventEmitterAsyncResource({ name: 'own' });
        const seen: unknown[] = [];
        emitter.on('a', (value) => seen.push(value)).emit('a', 5);
        emitter.emitDestroy();
        return [...seen, typeof emitter.asyncId, typeof emitter.triggerAsyncId];
      },
    });
  });

  t.test('settings of all emitters are told of when they change', (t) => {
    const before = changes.length;
    const module = ours as unknown as {
      defaultMaxListeners: number;
      captureRejections: boolean;
      setMaxListeners(most: number): void;
    };
    module.defaultMaxListeners = 11;
    module.captureRejections = false;
    module.setMaxListeners(10);
    t.equal(changes.length - before, 3);
    t.end();
  });
});

t.test('waiting', async (t) => {
  type Module = Pick<typeof nodeEvents, 'on' | 'once' | 'addAbortListener'>;
  const ours = { on, once, addAbortListener } as unknown as Module;
  const later = (act: () => unknown) => void setImmediate(act);

  t.test('one event is waited for as in Node', async (t) => {
    await sameAsNode<Module>(t, ours, nodeEvents, {
      once(module) {
        const emitter = new nodeEvents.EventEmitter();
        later(() => emitter.emit('a', 1, 2));
        return module.once(emitter, 'a');
      },
      'an error before'(module) {
        const emitter = new nodeEvents.EventEmitter();
        later(() => emitter.emit('error', new RangeError('mine')));
        return module.once(emitter, 'a');
      },
      'the error itself'(module) {
        const emitter = new nodeEvents.EventEmitter();
        later(() => emitter.emit('error', 'value'));
        return module.once(emitter, 'error');
      },
      async 'a target'(module) {
        const target = new EventTarget();
        later(() => target.dispatchEvent(new Event('a')));
        const [event] = (await module.once(target, 'a')) as [Event];
        return event.type;
      },
      async 'given up'(module) {
        const controller = new AbortController();
        const emitter = new nodeEvents.EventEmitter();
        const waits = module.once(emitter, 'a', { signal: controller.signal });
        controller.abort('why');
        const error = await waits.catch((thrown: Error & { code: string }) => thrown);
        return [(error as Error).name, (error as Error).cause, emitter.listenerCount('a')];
      },
      'given up before': (module) => module.once(new nodeEvents.EventEmitter(), 'a', { signal: AbortSignal.abort() }),
      'no signal': (module) => module.once(new nodeEvents.EventEmitter(), 'a', { signal: 5 as never }),
      'no emitter': (module) => module.once(5 as never, 'a'),
    });
  });

  t.test('events are iterated over as in Node', async (t) => {
    await sameAsNode<Module>(t, ours, nodeEvents, {
      async 'until it breaks'(module) {
        const emitter = new nodeEvents.EventEmitter();
        later(() => [1, 2, 3].map((value) => emitter.emit('a', value)));
        const seen: unknown[] = [];
        for await (const [value] of module.on(emitter, 'a')) {
          seen.push(value);
          if (value === 3) break;
        }
        return [...seen, emitter.listenerCount('a'), emitter.listenerCount('error')];
      },
      async 'until it closes'(module) {
        const emitter = new nodeEvents.EventEmitter();
        later(() => ['a', 'a', 'end'].map((name) => emitter.emit(name, name)));
        const seen: unknown[] = [];
        for await (const args of module.on(emitter, 'a', { close: ['end'] })) seen.push(args);
        return seen;
      },
      async 'until an error'(module) {
        const emitter = new nodeEvents.EventEmitter();
        later(() => {
          emitter.emit('a', 1);
          emitter.emit('error', new Error('mine'));
        });
        const seen: unknown[] = [];
        for await (const args of module.on(emitter, 'a')) seen.push(args);
        return seen;
      },
      async 'until it is given up'(module) {
        const controller = new AbortController();
        const iterator = module.on(new nodeEvents.EventEmitter(), 'a', { signal: controller.signal });
        const next = iterator.next();
        controller.abort();
        return next.catch((error: Error) => error.name);
      },
      async 'by hand'(module) {
        const emitter = new nodeEvents.EventEmitter();
        const iterator = module.on(emitter, 'a') as AsyncIterableIterator<unknown[]>;
        const waiting = [iterator.next(), iterator.next()];
        emitter.emit('a', 1);
        await iterator.return?.();
        return [await Promise.all(waiting), await iterator.next()];
      },
      async 'with an error of one’s own'(module) {
        const iterator = module.on(new nodeEvents.EventEmitter(), 'a') as AsyncIterableIterator<unknown[]>;
        await iterator.throw?.(new Error('own'));
        return iterator.next();
      },
      'with what is none': async (module) =>
        (module.on(new nodeEvents.EventEmitter(), 'a') as AsyncIterableIterator<never>).throw?.(5),
      'given up before': async (module) =>
        module.on(new nodeEvents.EventEmitter(), 'a', { signal: AbortSignal.abort() }),
    });
  });

  t.test('an abort is heard of', async (t) => {
    await sameAsNode<Module>(t, ours, nodeEvents, {
      async 'before and after'(module) {
        const seen: string[] = [];
        module.addAbortListener(AbortSignal.abort(), () => seen.push('before'));
        const controller = new AbortController();
        module.addAbortListener(controller.signal, () => seen.push('after'));
        const disposed = module.addAbortListener(controller.signal, () => seen.push('disposed'));
        disposed[Symbol.dispose]();
        controller.abort();
        await Promise.resolve();
        return seen.sort();
      },
      'no listener': (module) => module.addAbortListener(AbortSignal.abort(), 5 as never),
      'no signal': (module) => module.addAbortListener(undefined as never, () => {}),
    });
  });
});
