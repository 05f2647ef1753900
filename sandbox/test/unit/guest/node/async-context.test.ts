import * as nodeAsyncHooks from 'node:async_hooks';
import t from 'tap';
import { createAsyncHooks, keepContexts } from '../../../../guest/node/async-context.ts';
import { sameAsNode } from '../../../support/same-as-node.ts';

type Module = Pick<typeof nodeAsyncHooks, 'AsyncLocalStorage' | 'AsyncResource' | 'createHook' | 'executionAsyncId'>;
const ours = createAsyncHooks() as unknown as Module;

/** Gives promises their method back. */
function restore(value: unknown, writable = true): void {
  // oxlint-disable-next-line unicorn/no-thenable -- that of all promises
  Reflect.defineProperty(Promise.prototype, 'then', { value, writable, configurable: true });
}

t.test('values hold within what they were set for, as in Node', async (t) => {
  await sameAsNode<Module>(t, ours, nodeAsyncHooks, {
    run({ AsyncLocalStorage }) {
      const storage = new AsyncLocalStorage<number>();
      const other = new AsyncLocalStorage<number>({ defaultValue: 9, name: 'own' });
      return [
        storage.getStore(),
        other.getStore(),
        other.name,
        storage.run(1, (given) => [storage.getStore(), given, storage.run(2, () => storage.getStore())], 'x'),
        storage.run(1, () => [storage.exit(() => storage.getStore()), storage.getStore()]),
        storage.run(1, () => other.run(2, () => [storage.getStore(), other.getStore()])),
        storage.getStore(),
      ];
    },
    'what is thrown leaves it'({ AsyncLocalStorage }) {
      const storage = new AsyncLocalStorage<number>();
      try {
        storage.run(1, () => {
          throw new Error('thrown');
        });
      } catch {
        return storage.getStore();
      }
    },
    'functions that keep it'({ AsyncLocalStorage, AsyncResource }) {
      const storage = new AsyncLocalStorage<number>();
      const kept = storage.run(1, () => ({
        snapshot: AsyncLocalStorage.snapshot(),
        bound: AsyncLocalStorage.bind(() => storage.getStore()),
        resource: new AsyncResource('own'),
        later: AsyncResource.bind(() => storage.getStore()),
      }));
      return [
        kept.snapshot(() => storage.getStore()),
        kept.bound(),
        kept.later(),
        kept.resource.runInAsyncScope((a: number) => [storage.getStore(), a], undefined, 5),
        kept.resource.bind(() => storage.getStore())(),
      ];
    },
    'wrong arguments': ({ AsyncResource }) => new AsyncResource(5 as never),
    'no function': ({ AsyncLocalStorage }) => AsyncLocalStorage.bind(5 as never),
    async 'entering it'({ AsyncLocalStorage }) {
      const storage = new AsyncLocalStorage<number>();
      return storage.run(1, () => {
        storage.enterWith(2);
        const within = storage.getStore();
        storage.disable();
        return [within, storage.getStore()];
      });
    },
  });
  const hook = ours.createHook({});
  t.equal(hook.enable().disable(), hook);
  t.equal(typeof ours.executionAsyncId(), 'number');
});

t.test('promises, timers and microtasks keep it; an entered value ends with its turn', async (t) => {
  const { then } = Promise.prototype;
  const global = { setTimeout, setInterval, setImmediate, queueMicrotask, process: { nextTick: process.nextTick } };
  keepContexts(global);
  const storage = new ours.AsyncLocalStorage<number>();
  const seen: unknown[] = [];
  const see = (what: string) => () => seen.push(`${what} ${String(storage.getStore())}`);
  const all = storage.run(1, () => [
    Promise.resolve().then(see('then')),
    Promise.reject(new Error('x')).catch(see('catch')),
    new Promise((resolve) => global.setTimeout(() => resolve(see('timeout')()), 1)),
    new Promise((resolve) => global.setImmediate(() => resolve(see('immediate')()))),
    new Promise<void>((resolve) => global.queueMicrotask(() => resolve(void see('microtask')()))),
    new Promise<void>((resolve) => global.process.nextTick(() => resolve(void see('tick')()))),
  ]);
  await Promise.all(all);
  await Promise.resolve().then(see('outside'));
  t.strictSame(
    new Set(seen),
    new Set([...['catch 1', 'immediate 1', 'microtask 1', 'outside undefined', 'then 1', 'tick 1', 'timeout 1']]),
  );
  storage.enterWith(5);
  const entered = Promise.resolve().then(see('entered'));
  await entered;
  await Promise.resolve().then(see('after'));
  restore(then);
  t.strictSame(seen.slice(-2), ['entered 5', 'after undefined']);
});

t.test('what is frozen already stays as it is', (t) => {
  const { then } = Promise.prototype;
  restore(then, false);
  keepContexts({});
  const kept = Promise.prototype.then;
  restore(then);
  t.equal(kept, then);
  t.end();
});
