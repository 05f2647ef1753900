import t from 'tap';
import type { CallOutcome } from '../../../contract.ts';
import { CallEnd } from '../../../guest/call-end.ts';
import { CapabilityCalls, capabilityErrorOf } from '../../../guest/capability-calls.ts';
import { UngrantedEnvironmentReads } from '../../../guest/environment-reads.ts';
import { HostLink } from '../../../guest/host-link.ts';
import { createContext, invokeHandler } from '../../../guest/invoke.ts';
import { GuestHost } from '../../support/guest-host.ts';

t.test('call end', async (t) => {
  function open(resultBytes = 100) {
    const host = new GuestHost();
    const end = new CallEnd(new HostLink(host.call));
    const call = end.begin(resultBytes);
    return { host, end, call };
  }

  t.test('the first end counts', (t) => {
    const { host, end, call } = open();
    t.ok(end.isOpen(call));
    end.returned(call, { a: 1 });
    t.notOk(end.isOpen(call));
    end.returned(call, 2);
    end.threw(call, new Error('late'));
    t.strictSame(host.outcome, { kind: 'returned', json: '{"a":1}' });
    end.threw(end.begin(100), new Error('next'));
    t.match(host.outcomes[1], { kind: 'threw', message: 'next' });
    t.notOk(host.retired);
    t.end();
  });

  t.test('what became of an ended call is no end of the running one', (t) => {
    const { host, end, call } = open();
    end.uncaught(new Error('in a timer'));
    t.ok(host.retired, 'its handler goes on');
    const next = end.begin(100);
    t.notOk(end.isOpen(call));
    end.returned(call, 'secret of the first');
    end.threw(call, new Error('secret of the first'));
    t.equal(host.outcomes.length, 1);
    end.returned(next, 'second');
    t.strictSame(host.outcomes[1], { kind: 'returned', json: '"second"' });
    t.end();
  });

  t.test('a call that is cut short ends with its code, and retires the isolate', (t) => {
    const { host, end } = open();
    end.cut('CALL_LIMIT', 'too many');
    t.strictSame(host.outcome, { kind: 'ended', code: 'CALL_LIMIT', message: 'too many' });
    t.ok(host.retired);
    t.end();
  });

  t.test('a result without text, or with too much of it, ends the call', (t) => {
    const shape = open();
    shape.end.returned(shape.call, { a: 1n });
    t.strictSame(shape.host.outcome, {
      kind: 'ended',
      code: 'RESULT_NOT_SERIALIZABLE',
      message: 'result.a is a BigInt',
    });
    const size = open(3);
    size.end.returned(size.call, 'abc');
    t.match(size.host.outcome, {
      kind: 'ended',
      code: 'RESULT_TOO_LARGE',
      message: /limit is 3 bytes \(limits.result_bytes\)$/,
    });
    const thrown = open();
    thrown.end.returned(thrown.call, {
      toJSON() {
        throw new TypeError('mine');
      },
    });
    t.match(thrown.host.outcome, { kind: 'threw', message: 'mine', code: 'TYPE_ERROR' });
    t.end();
  });

  t.test('dropped details leave a line in the log', (t) => {
    const { host, end, call } = open();
    end.threw(call, { message: 'm', details: { a: 1n } });
    t.match(host.outcome, { details: '{}' });
    t.equal(host.lines[0], "warn: The error's details were dropped: details.a is a BigInt");
    t.end();
  });

  t.test('what escapes ends the running call, and is logged when none runs', (t) => {
    const { host, end } = open();
    end.uncaught(new Error('in the call'));
    t.match(host.outcome, { kind: 'threw', message: 'in the call' });
    end.uncaught('after it');
    t.match(host.lines, [/^uncaught: Uncaught Error: in the call\n\s+at /, /^uncaught: Uncaught "after it"/]);
    t.equal(host.outcomes.length, 1);
    t.end();
  });

  t.test(
    'what was thrown is in the log with its stack: for the service too, unless it is an answer to the caller',
    (t) => {
      for (const [status, level] of [
        [undefined, 'uncaught'],
        [500, 'uncaught'],
        [499, 'error'],
        [422, 'error'],
      ] as const) {
        const { host, end, call } = open();
        end.threw(call, Object.assign(new Error('m', { cause: 'why' }), { status }));
        t.match(host.logs, [{ level, message: /^Uncaught Error: m\n\s+at .*\[cause\]: "why"$/s }]);
      }
      t.end();
    },
  );
});

t.test('capability calls', async (t) => {
  function open(limit = 10) {
    const host = new GuestHost();
    const link = new HostLink(host.call);
    const end = new CallEnd(link);
    const calls = new CapabilityCalls(link, end);
    end.begin(100);
    calls.begin(limit);
    return { host, end, calls, call: calls.ofRunning().call };
  }

  t.test('settles each call by its number, in any order', async (t) => {
    const { host, calls, call } = open();
    const first = call('kv.get', () => ({ key: 'a' }));
    const second = call('kv.get', () => ({ key: 'b' }), { accept: (value) => [value] });
    t.strictSame(host.requests, [
      { id: 1, method: 'kv.get', params: { key: 'a' } },
      { id: 2, method: 'kv.get', params: { key: 'b' } },
    ]);
    calls.settle(2, { ok: true, value: 'B' });
    calls.settle(1, { ok: true, value: 'A' });
    calls.settle(1, { ok: true, value: 'again' });
    calls.settle(99, { ok: true, value: 'nobody' });
    t.equal(await first, 'A');
    t.strictSame(await second, ['B']);
  });

  t.test('a refusal rejects with an error', async (t) => {
    const { calls, call } = open();
    const refused = call('kv.del', () => ({ key: 'a' }));
    calls.settle(1, { ok: false, error: { message: 'no', code: 'FORBIDDEN', status: 403, details: { left: 1 } } });
    const error = await refused.catch((reason: unknown) => reason);
    t.ok(error instanceof Error);
    t.match(error, { message: 'no', code: 'FORBIDDEN', status: 403, details: { left: 1 } });
    t.strictSame(Object.keys(capabilityErrorOf({ message: 'm' })), [], 'only what the reply has');
    const translated = call('kv.del', () => ({ key: 'a' }), { refuse: () => new RangeError('other') });
    calls.settle(2, { ok: false, error: { message: 'no' } });
    await t.rejects(translated, new RangeError('other'));
  });

  t.test('fields that are no JSON reject with their path, and are not sent', async (t) => {
    const { host, call } = open();
    const send = (request: unknown) => call('relayer.rpc', () => ({ relayerId: 'r', request }));
    await t.rejects(send({ value: 5n }), new TypeError('request.value is a BigInt'));
    await t.rejects(
      send(() => 1),
      new TypeError('request is a function'),
    );
    await t.rejects(
      call('relayer.rpc', () => {
        throw new Error('thrown by the arguments');
      }),
      new Error('thrown by the arguments'),
    );
    t.strictSame(host.requests, []);
    void send({ dropped: undefined, kept: null, nested: { f() {} } });
    t.strictSame(host.requests[0]?.params, { relayerId: 'r', request: { kept: null, nested: {} } });
  });

  t.test('the host may refuse to take a call', async (t) => {
    const { host, call } = open();
    host.refusal = 'too many at once';
    await t.rejects(
      call('kv.get', () => ({ key: 'a' })),
      new Error('too many at once'),
    );
  });

  t.test('one call too many ends the plugin call', async (t) => {
    const { host, call } = open(1);
    void call('kv.get', () => ({ key: 'a' }));
    await t.rejects(
      call('kv.get', () => ({ key: 'a' })),
      /more than 1 capability calls \(limits.calls\)/,
    );
    t.match(host.outcome, { kind: 'ended', code: 'CALL_LIMIT' });
    t.ok(host.retired, 'the handler goes on');
    await t.rejects(
      call('kv.get', () => ({ key: 'a' })),
      /kv.get was called after the plugin call had ended/,
    );
    t.equal(host.requests.length, 1);
  });

  t.test('a new call begins with none', async (t) => {
    const { end, calls, host, call } = open(1);
    void call('kv.get', () => ({ key: 'a' }));
    end.returned(end.number, 1);
    end.begin(100);
    calls.begin(1);
    const next = calls.ofRunning().call('kv.get', () => ({ key: 'b' }));
    t.equal(host.requests.at(-1)?.id, 1);
    calls.settle(1, { ok: true, value: 'B' });
    t.equal(await next, 'B');
  });

  t.test(
    'what belongs to an ended call is refused, also while another one runs, and retires the isolate',
    async (t) => {
      const { end, calls, host, call } = open();
      end.returned(end.number, 1);
      end.begin(100);
      calls.begin(10);
      void calls.ofRunning().call('kv.get', () => ({ key: 'mine' }));
      t.notOk(host.retired);
      await t.rejects(
        call('kv.set', () => ({ key: 'a', ttlSec: undefined })),
        /kv.set was called after the plugin call had ended/,
      );
      t.ok(host.retired);
      t.equal(host.requests.length, 1);
    },
  );

  t.test('what a module asks for while it is evaluated is refused, and retires nothing', async (t) => {
    const host = new GuestHost();
    const link = new HostLink(host.call);
    const calls = new CapabilityCalls(link, new CallEnd(link));
    await t.rejects(
      calls.ofRunning().call('kv.get', () => ({ key: 'a' })),
      /kv.get was called/,
    );
    t.notOk(host.retired);
  });

  t.test('an error that comes with an answer has the stack of its question', async (t) => {
    const { host, call, calls } = open();
    async function asksForKey() {
      return await call('kv.get', () => ({ key: 'a' }));
    }
    const asked = asksForKey();
    calls.settle(host.requests.at(-1)?.id ?? 0, { ok: false, error: { message: 'no key', code: 'C' } });
    const error = await asked.catch((thrown: unknown) => thrown as Error);
    t.match(error, { message: 'no key', code: 'C', stack: /^Error: no key\n[^]*at asksForKey \(/ });
    t.notOk(Object.keys(error as Error).includes('stack'));
  });
});

t.test('invoke', async (t) => {
  const given = { params: { a: 1 }, headers: {}, route: '', method: 'POST', query: {}, caller: { keyId: 'k' } };

  async function outcomeOf(moduleExports: unknown): Promise<CallOutcome | undefined> {
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
});

t.test('is an ordinary object of own fields in the order that plugins know', (t) => {
  const link = new HostLink(new GuestHost().call);
  const given = {
    params: { a: 1 },
    headers: { h: ['v'] },
    route: '/r',
    method: 'GET',
    query: { q: ['1'] },
    caller: { keyId: 'k' },
  };
  const context = createContext(new CapabilityCalls(link, new CallEnd(link)).ofRunning(), given);
  t.strictSame(Object.keys(context), [
    'api',
    'params',
    'kv',
    'headers',
    'route',
    'config',
    'method',
    'query',
    'caller',
  ]);
  t.ok('config' in context && context.config === undefined);
  t.strictSame({ ...context, api: 0, kv: 0 }, { ...given, config: undefined, api: 0, kv: 0 });
  context.params = 'changed';
  t.equal(context.params, 'changed');
  t.end();
});

t.test('environment reads', async (t) => {
  function told(reads: UngrantedEnvironmentReads): string[] {
    const names: string[] = [];
    reads.report((name) => names.push(name));
    return names;
  }

  t.test('an environment is an object like any other, and what it lacks is noted', (t) => {
    const reads = new UngrantedEnvironmentReads();
    const env = reads.watch({ GRANTED: 'yes' });
    t.equal(env['GRANTED'], 'yes');
    t.strictSame({ ...env }, { GRANTED: 'yes' });
    env['OWN'] = 'set';
    t.equal(env['OWN'], 'set');
    t.notOk('ABSENT' in env);
    for (const name of ['NODE_ENV', 'HTTPS_PROXY', 'npm_config_x', 'toJSON', 'Mixed', 'A'])
      t.equal(env[name], undefined);
    t.strictSame(told(reads), []);
    t.equal(reads.hint('failed'), '');
    t.equal(env['API_URL'] ?? env['API_URL'], undefined);
    t.strictSame(told(reads), ['API_URL']);
    t.strictSame(told(reads), [], 'once');
    t.end();
  });

  t.test('the hint is of what the message names, else of the few that the call has read', (t) => {
    const reads = new UngrantedEnvironmentReads();
    const env = reads.watch({});
    const read = (...names: string[]) => {
      for (const name of names) t.equal(env[name], undefined);
    };
    read('AT_LOAD');
    t.match(reads.hint('Invalid URL'), /^ \(process\.env\.AT_LOAD is not granted: add "AT_LOAD" to permissions\.env/);
    reads.begin();
    t.equal(reads.hint('Invalid URL'), '', 'it was read before the call');
    t.match(reads.hint('AT_LOAD is missing'), 'process.env.AT_LOAD');
    read('FIRST', 'SECOND');
    t.match(reads.hint('Invalid URL'), /FIRST.*SECOND/);
    read('THIRD', 'FOURTH');
    t.equal(reads.hint('Invalid URL'), '');
    t.match(reads.hint('no FOURTH'), 'process.env.FOURTH');
    t.notMatch(reads.hint('no FOURTH'), 'THIRD');
    t.end();
  });
});
