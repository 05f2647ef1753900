import * as node from 'node:events';
import t from 'tap';
import { createEvents } from '../../../../../../sandbox/guest/lazy/events.ts';
import { sameAsNode } from '../../../../../support/same-as-node.ts';

type Module = typeof node.EventEmitter & typeof node;
const changes: string[] = [];
const ours = createEvents(() => changes.push('told')) as unknown as Module;

t.test('the module is its constructor, with what Node has on it', async (t) => {
  const missing = Object.keys(node.EventEmitter).filter((name) => !(name in ours));
  t.strictSame(missing, []);
  t.equal(ours.EventEmitter, ours);
  await sameAsNode<Module>(t, ours, node.EventEmitter as unknown as Module, {
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
