import t from 'tap';
import { CallEnd } from '../../../../sandbox/guest/call-end.ts';
import { CapabilityCalls } from '../../../../sandbox/guest/capability-calls.ts';
import { HostLink } from '../../../../sandbox/guest/host-link.ts';
import { invokeHandler } from '../../../../sandbox/guest/invoke.ts';
import type { Outcome } from '../../../../sandbox/protocol.ts';
import { GuestHost } from '../../../support/guest-host.ts';

const given = { params: { a: 1 }, headers: {}, route: '', method: 'POST', query: {}, caller: { keyId: 'k' } };

async function outcomeOf(moduleExports: unknown): Promise<Outcome | undefined> {
  const host = new GuestHost();
  const link = new HostLink(host.call);
  const end = new CallEnd(link);
  end.begin(1000);
  invokeHandler(moduleExports, given, new CapabilityCalls(link, end).ofRunning(), end);
  await new Promise((resolve) => setImmediate(resolve));
  return host.outcome;
}

const returned = (value: unknown) => ({ kind: 'returned', json: JSON.stringify(value) });

t.test('one parameter gets the context, any other number the API and the parameters', async (t) => {
  const one = (context: object) => Object.keys(context).length;
  const two = (api: { useRelayer: unknown }, params: unknown) => [typeof api.useRelayer, params];
  const rest = (...all: unknown[]) => all.length;
  t.strictSame(await outcomeOf({ handler: one }), returned(9));
  t.strictSame(await outcomeOf({ handler: two }), returned(['function', { a: 1 }]));
  t.strictSame(await outcomeOf({ handler: rest }), returned(2));
  t.strictSame(await outcomeOf(Object.assign(() => 1, { handler: one })), returned(9), 'a function may carry it');
});

t.test("a module without a handler function is the plugin's failure", async (t) => {
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`n${index}`, 1]));
  for (const [moduleExports, told] of [
    [undefined, 'it exports nothing'],
    [null, 'it exports nothing'],
    [5, 'it exports nothing'],
    [{}, 'it exports nothing'],
    [{ handler: 1, a: 1 }, 'its handler is of type number'],
    [{ default: () => 1, run: 1 }, 'it exports default, run'],
    [many, `it exports ${Object.keys(many).slice(0, 10).join(', ')}`],
  ] as const) {
    t.match(await outcomeOf(moduleExports), {
      kind: 'threw',
      message: `Plugin must export a handler function; ${told}`,
      code: 'PLUGIN_ERROR',
      status: 500,
    });
  }
  const hostile = Object.defineProperty({}, 'handler', {
    get() {
      throw new Error('mine');
    },
  });
  t.match(await outcomeOf(hostile), { kind: 'threw', message: 'mine' });
});

t.test('promises, thenables and promises that are none', async (t) => {
  const adopt = (result: unknown) => outcomeOf({ handler: (_context: object) => result });
  t.strictSame(await adopt(Promise.resolve(1)), returned(1));
  t.match(await adopt(Promise.reject(new Error('no'))), { kind: 'threw', message: 'no' });
  t.strictSame(await adopt(thenable((resolve) => resolve(2))), returned(2));
  t.match(await adopt(thenable((_, reject) => reject(new Error('no')))), { kind: 'threw', message: 'no' });
  t.match(await adopt(Object.create(Promise.prototype)), { kind: 'threw', code: 'TYPE_ERROR' });
  t.strictSame(await adopt(Object.assign(Promise.resolve(3), { constructor: 5 })), returned(3));
  t.equal(await adopt(new Promise(() => {})), undefined, 'one that never settles ends nothing');
  t.match(
    await outcomeOf({
      handler: (_context: object) => {
        throw new RangeError('at once');
      },
    }),
    { kind: 'threw', message: 'at once' },
  );
});

function thenable(then: (resolve: (value: unknown) => void, reject: (error: Error) => void) => void): object {
  // oxlint-disable-next-line unicorn/no-thenable -- it is what is tested
  return Object.defineProperty({}, 'then', { value: then });
}
