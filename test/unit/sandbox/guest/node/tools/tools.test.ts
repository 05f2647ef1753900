import * as node from 'node:util';
import t from 'tap';
import { createTools } from '../../../../../../sandbox/guest/node/util.ts';
import { sameAsNode } from '../../../../../support/same-as-node.ts';

const ours = createTools() as unknown as typeof node;

t.test('the smaller functions do as Node’s', async (t) => {
  await sameAsNode(t, ours, node, {
    equal: (module) => [module.isDeepStrictEqual({ a: [1] }, { a: [1] }), module.isDeepStrictEqual([1], ['1'])],
    arrays: (module) => [module.isArray([]), module.isArray({})],
    extend: (module) =>
      (module as unknown as { _extend: (a: object, b: unknown) => object })._extend({ a: 1 }, { b: 2 }),
    text: (module) => module.toUSVString('a\ud800'),
    logs: (module) => [typeof module.debuglog('x'), module.debuglog('x').enabled, module.debuglog('x')('unsaid')],
    async aborted(module) {
      const controller = new AbortController();
      const waits = module.aborted(controller.signal, {});
      controller.abort();
      return [typeof (await waits), await module.aborted(AbortSignal.abort(), {})];
    },
    'no signal': (module) => module.aborted(5 as never, {}),
    types: (module) => module.types.isMap(new Map()),
    signals: (module) => [
      module.transferableAbortController() instanceof AbortController,
      module.transferableAbortSignal(AbortSignal.abort()).aborted,
    ],
  });
  t.equal(ours.isDeepStrictEqual({ a: 1 }, Object.create(null, { a: { value: 1, enumerable: true } })), false);
  (ours as unknown as { markPromiseAsHandled(p: unknown): void }).markPromiseAsHandled(Promise.reject(new Error('x')));
  let told: unknown;
  ours.debuglog('x', (log) => {
    told = log;
  });
  t.type(told, 'function');
});
