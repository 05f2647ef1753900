import * as node from 'node:events';
import t from 'tap';
import { addAbortListener, on, once } from '../../../../../../sandbox/guest/node/event-waiting.ts';
import { sameAsNode } from '../../../../../support/same-as-node.ts';

type Module = Pick<typeof node, 'on' | 'once' | 'addAbortListener'>;
const ours = { on, once, addAbortListener } as unknown as Module;
const later = (act: () => unknown) => void setImmediate(act);

t.test('one event is waited for as in Node', async (t) => {
  await sameAsNode<Module>(t, ours, node, {
    once(module) {
      const emitter = new node.EventEmitter();
      later(() => emitter.emit('a', 1, 2));
      return module.once(emitter, 'a');
    },
    'an error before'(module) {
      const emitter = new node.EventEmitter();
      later(() => emitter.emit('error', new RangeError('mine')));
      return module.once(emitter, 'a');
    },
    'the error itself'(module) {
      const emitter = new node.EventEmitter();
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
      const emitter = new node.EventEmitter();
      const waits = module.once(emitter, 'a', { signal: controller.signal });
      controller.abort('why');
      const error = await waits.catch((thrown: Error & { code: string }) => thrown);
      return [(error as Error).name, (error as Error).cause, emitter.listenerCount('a')];
    },
    'given up before': (module) => module.once(new node.EventEmitter(), 'a', { signal: AbortSignal.abort() }),
    'no signal': (module) => module.once(new node.EventEmitter(), 'a', { signal: 5 as never }),
    'no emitter': (module) => module.once(5 as never, 'a'),
  });
});

t.test('events are iterated over as in Node', async (t) => {
  await sameAsNode<Module>(t, ours, node, {
    async 'until it breaks'(module) {
      const emitter = new node.EventEmitter();
      later(() => [1, 2, 3].map((value) => emitter.emit('a', value)));
      const seen: unknown[] = [];
      for await (const [value] of module.on(emitter, 'a')) {
        seen.push(value);
        if (value === 3) break;
      }
      return [...seen, emitter.listenerCount('a'), emitter.listenerCount('error')];
    },
    async 'until it closes'(module) {
      const emitter = new node.EventEmitter();
      later(() => ['a', 'a', 'end'].map((name) => emitter.emit(name, name)));
      const seen: unknown[] = [];
      for await (const args of module.on(emitter, 'a', { close: ['end'] })) seen.push(args);
      return seen;
    },
    async 'until an error'(module) {
      const emitter = new node.EventEmitter();
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
      const iterator = module.on(new node.EventEmitter(), 'a', { signal: controller.signal });
      const next = iterator.next();
      controller.abort();
      return next.catch((error: Error) => error.name);
    },
    async 'by hand'(module) {
      const emitter = new node.EventEmitter();
      const iterator = module.on(emitter, 'a') as AsyncIterableIterator<unknown[]>;
      const waiting = [iterator.next(), iterator.next()];
      emitter.emit('a', 1);
      await iterator.return?.();
      return [await Promise.all(waiting), await iterator.next()];
    },
    async 'with an error of one’s own'(module) {
      const iterator = module.on(new node.EventEmitter(), 'a') as AsyncIterableIterator<unknown[]>;
      await iterator.throw?.(new Error('own'));
      return iterator.next();
    },
    'with what is none': async (module) =>
      (module.on(new node.EventEmitter(), 'a') as AsyncIterableIterator<never>).throw?.(5),
    'given up before': async (module) => module.on(new node.EventEmitter(), 'a', { signal: AbortSignal.abort() }),
  });
});

t.test('an abort is heard of', async (t) => {
  await sameAsNode<Module>(t, ours, node, {
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
