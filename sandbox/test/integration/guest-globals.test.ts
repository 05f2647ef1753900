/**
 * Threat: a plugin uses what the runtime leaves in its isolate to escape, for example a host object, or a global that
 * takes memory or time outside the limits. Or it rewrites built-ins to break or fool the runtime. Runs in real isolates
 * with the service's bundle.
 */
import { stop } from 'esbuild';
import t from 'tap';
import type { CallOutcome } from '../../contract.ts';
import { bundle, GuestWorld } from '../support/guest-isolate.ts';

const world = await GuestWorld.open();
t.teardown(stop);

/** A CommonJS module whose handler has this body. */
const handler = (body: string, before = '') =>
  `${before}\nvar __isolayer_plugin__ = { handler: async (context) => { ${body} } };`;

function returned(outcome: CallOutcome | undefined): unknown {
  if (outcome?.kind !== 'returned') throw new Error(`did not return: ${JSON.stringify(outcome)}`);
  return JSON.parse(outcome.json);
}

t.test('nothing of the host or of isolated-vm can be reached', (t) => {
  const { outcome } = world.call(
    handler(`
      const seen = new Set([globalThis, context]);
      const suspects = [];
      for (const object of seen) {
        const next = (value, at) => {
          if ((typeof value === 'object' && value !== null) || typeof value === 'function') seen.add(value);
          if (typeof value === 'string' && /isolated-vm|node:internal|node_modules/.test(value)) suspects.push(at);
        };
        next(Object.getPrototypeOf(object), 'prototype');
        for (const key of Reflect.ownKeys(object)) {
          const property = Object.getOwnPropertyDescriptor(object, key);
          next(property.value, String(key));
          next(property.get, String(key));
          next(property.set, String(key));
          try { next(object[key], String(key)); } catch {}
        }
        const name = typeof object === 'function' ? object.name : object.constructor?.name;
        if (/^(Isolate|Context|Reference|Callback|ExternalCopy|Script|NativeModule|HostLink|CallEnd)$/.test(name)) suspects.push(name);
      }
      return { size: seen.size, suspects };`),
  );
  const { size, suspects } = returned(outcome) as { size: number; suspects: string[] };
  t.strictSame(suspects, []);
  t.ok(size > 1000, `${size} objects were looked at`);
  t.end();
});

t.test('no function of the runtime or the host is found in stack frames or callers', (t) => {
  const { outcome } = world.call(
    handler(
      `'use strict';
      const found = [];
      Error.prepareStackTrace = (_, frames) => frames.map((frame) => [typeof frame.getFunction(), typeof frame.getThis()]);
      const look = () => { for (const kinds of new Error('x').stack) found.push(...kinds); };
      console.log({ toJSON: look });
      try { new ArrayBuffer(-1); } catch (error) { for (const kinds of error.stack) found.push(...kinds); }
      try { new URL('::'); } catch (error) { for (const kinds of error.stack) found.push(...kinds); }
      console.log({ toJSON: sloppy });
      setTimeout(sloppy, 1);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return { found: [...new Set(found)], callers };`,
      // Outside the strict handler, because only a sloppy function has a caller.
      'const callers = []; function sloppy() { callers.push(sloppy.caller); }',
    ),
  );
  t.strictSame(returned(outcome), { found: ['undefined'], callers: [null, null] });
  t.end();
});

t.test('what was removed stays removed', (t) => {
  const { outcome } = world.call(
    handler(`
      const grown = [];
      const attempt = (name, make) => {
        try {
          const buffer = make();
          if (buffer?.resizable || buffer?.maxByteLength > 8 || typeof buffer?.resize === 'function') grown.push(name);
        } catch {}
      };
      const bigger = { maxByteLength: 1 << 20 };
      const Found = new Uint8Array(8).buffer.constructor;
      attempt('constructor', () => new ArrayBuffer(8, bigger));
      attempt('typed array', () => new Found(8, bigger));
      attempt('prototype', () => new ArrayBuffer.prototype.constructor(8, bigger));
      attempt('data view', () => new (new DataView(new ArrayBuffer(8)).buffer.constructor)(8, bigger));
      attempt('subclass', () => new (class extends ArrayBuffer {})(8, bigger));
      attempt('construct', () => Reflect.construct(ArrayBuffer, [8, bigger]));
      attempt('new target', () => Reflect.construct(ArrayBuffer, [8, bigger], class extends Object {}));
      attempt('inherited', () => new (Object.getPrototypeOf(ArrayBuffer))(8, bigger));
      attempt('species', () => {
        const buffer = new ArrayBuffer(8);
        Object.defineProperty(buffer, 'constructor', { value: undefined });
        return new (buffer.slice(0).constructor)(8, bigger);
      });
      attempt('species of our own', () => {
        let Passed;
        class Own extends ArrayBuffer { static get [Symbol.species]() { return function (...a) { Passed = new.target; return new ArrayBuffer(...a); }; } }
        return new Own(8).slice(0);
      });
      attempt('transfer', () => new (new ArrayBuffer(8).transfer(16).constructor)(8, bigger));
      attempt('transferred', () => new ArrayBuffer(8).transfer(16));
      attempt('clone', () => new (structuredClone(new ArrayBuffer(8)).constructor)(8, bigger));
      attempt('encoder', () => new (new TextEncoder().encode('x').buffer.constructor)(8, bigger));
      attempt('bytes', () => new (crypto.getRandomValues(new Uint8Array(8)).buffer.constructor)(8, bigger));
      attempt('base64', () => new (Uint8Array.fromBase64('AAAA').buffer.constructor)(8, bigger));
      attempt('eval', () => new ((0, eval)('ArrayBuffer'))(8, bigger));
      attempt('function', () => new (Function('return ArrayBuffer')())(8, bigger));
      const names = ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry', 'require', 'module',
        'window', 'document', 'XMLHttpRequest', 'WebSocket', 'EventSource', 'localStorage',
        '__isolayer_plugin__', 'ivm', 'isolate'];
      const imported = await import('fs').then(() => 'imported', () => 'refused');
      return {
        grown,
        present: names.filter((name) => (0, eval)('typeof ' + name) !== 'undefined'),
        left: Reflect.ownKeys(ArrayBuffer.prototype).filter((key) => typeof key === 'string').sort(),
        isBuffer: new Uint8Array(1).buffer instanceof ArrayBuffer,
        usual: [new ArrayBuffer(3).byteLength, ArrayBuffer.name, ArrayBuffer.length, ArrayBuffer.isView(new DataView(new ArrayBuffer(1)))],
        imported,
        dynamic: [typeof process.exit, typeof process.binding, typeof process.kill, typeof process.getBuiltinModule],
      };`),
  );
  t.strictSame(returned(outcome), {
    grown: [],
    present: [],
    left: ['byteLength', 'constructor', 'detached', 'slice', 'transfer', 'transferToFixedLength'],
    isBuffer: true,
    usual: [3, 'ArrayBuffer', 1, true],
    imported: 'refused',
    dynamic: ['undefined', 'undefined', 'undefined', 'undefined'],
  });
  t.end();
});

t.test('poisoned built-ins break neither the runtime nor the outcome', (t) => {
  // Replaces every method of these with a getter that throws. The test keeps copies of what it needs itself.
  const poison = `
    const { ownKeys, getOwnPropertyDescriptor, defineProperty } = Reflect;
    const NamedMap = Map;
    const kinds = [Object, Function, Array, String, Number, Boolean, BigInt, Symbol, Map, Set, WeakMap, Promise, RegExp,
      Date, Error, TypeError, JSON, Reflect, Math, Object.getPrototypeOf(Uint8Array),
      Object.getPrototypeOf([][Symbol.iterator]()), Object.getPrototypeOf(new Map().entries())];
    const found = [];
    for (const kind of kinds) for (const object of [kind, kind.prototype]) {
      if (object === undefined) continue;
      for (const key of ownKeys(object)) {
        const { configurable, value } = getOwnPropertyDescriptor(object, key);
        if (key !== 'constructor' && configurable && typeof value === 'function') found[found.length] = { object, key };
      }
    }
    const trap = { get() { throw 'poisoned'; }, set() { throw 'poisoned'; }, configurable: true };
    for (let index = 0; index < found.length; index++) defineProperty(found[index].object, found[index].key, trap);`;

  const ok = world.call(
    handler(
      `console.log('one', 2n, null);
       await context.kv.set('key', 5);
       await new Promise((resolve) => setTimeout(resolve, 1));
       const transaction = await context.api.useRelayer('r').sendTransaction({ value: '1' });
       await transaction.wait();
       return 'result';`,
      poison,
    ),
    { answer: () => ({ ok: true, value: { id: 't', status: 'mined' } }) },
  );
  t.strictSame(ok.outcome, { kind: 'returned', json: '"result"' });
  t.strictSame(ok.logs, [{ level: 'log', message: 'one 2n null' }]);

  const written = world.call(
    handler(
      "process.stdout.write('out'); process.stderr.write('err'); return 1;",
      'String.prototype.slice = () => ({}); String.prototype.endsWith = () => ({}); globalThis.String = () => [];',
    ),
  );
  t.match(
    written.logs.map(({ message }) => typeof message),
    ['string', 'string'],
    'what it writes is text all the same',
  );

  const threw = world.call(handler(`const error = {}; error.message = 'mine'; error.code = 'C'; throw error;`, poison));
  t.match(threw.outcome, { kind: 'threw', message: 'mine', code: 'C', status: 500 });

  const pretender = world.call(
    handler(
      "throw new Error('real');",
      `JSON.stringify = () => '{"kind":"returned","json":"1"}'; Object.prototype.toJSON = () => 'forged';
       String.prototype.toJSON = () => 'forged'; Promise.prototype.then = function () { return this; };`,
    ),
  );
  t.match(pretender.outcome, { kind: 'threw', message: 'real' });
  t.end();
});

t.test('the forms that a handler may have', async (t) => {
  const forms: Record<string, [script: string, result: unknown]> = {
    'one parameter': ['export async function handler(context) { return Object.keys(context); }', contextKeys()],
    'two parameters': [
      'export function handler(api, params) { return [typeof api.useRelayer, params.a]; }',
      ['function', 1],
    ],
    'no parameter': [
      'export function handler() { return [typeof arguments[0].useRelayer, arguments[1].a]; }',
      ['function', 1],
    ],
    'a parameter with a default': ['export const handler = (api = null) => typeof api.useRelayer;', 'function'],
    'rest parameters': ['export const handler = (...all) => all.length;', 2],
    'not async': ['export const handler = (context) => context.params.a;', 1],
    'a thenable': ['export const handler = (context) => ({ then(resolve) { resolve(context.params.a); } });', 1],
    'module.exports': ['module.exports = { handler: (context) => context.params.a };', 1],
    'module.exports.handler': ['module.exports.handler = (context) => context.params.a;', 1],
    'exports.handler': ['exports.handler = (context) => context.params.a;', 1],
    'nothing returned': ['export const handler = (context) => {};', null],
  };
  for (const [name, [source, result]] of Object.entries(forms)) {
    const { outcome, escapes } = world.call(await bundle(source), { params: { a: 1 } });
    t.strictSame(returned(outcome), result, name);
    t.strictSame(escapes, [], name);
  }
  const message = /^Plugin must export a handler function; it/;
  for (const source of ['export default (context) => 1;', 'export const handler = 5;', 'export const other = 1;', '']) {
    const script = await bundle(source);
    try {
      world.call(script);
      t.fail(source);
    } catch (error) {
      t.match(error, { escape: { failure: { outcome: { code: 'PLUGIN_ERROR', message } } } }, source);
    }
  }
});

t.test('whatever a plugin returns or throws has its end', (t) => {
  const ended = (code: string, message: RegExp) => ({ kind: 'ended', code, message });
  const threw = (message: string | RegExp, code = 'PLUGIN_ERROR', status = 500, details = '{}') => ({
    kind: 'threw',
    message,
    code,
    status,
    details,
  });
  const ends: Record<string, unknown> = {
    'return () => 1;': ended('RESULT_NOT_SERIALIZABLE', /^result is a function$/),
    'return Symbol.iterator;': ended('RESULT_NOT_SERIALIZABLE', /^result is a symbol$/),
    'return { items: [0, 1, 2, { price: 5n }] };': ended(
      'RESULT_NOT_SERIALIZABLE',
      /^result\.items\[3\]\.price is a BigInt$/,
    ),
    'const o = { a: {} }; o.a.b = o; return o;': ended(
      'RESULT_NOT_SERIALIZABLE',
      /^result\.a\.b refers back to result$/,
    ),
    "return 'x'.repeat(100 * 2 ** 20);": ended('RESULT_TOO_LARGE', /104857602 bytes.* limit is 1048576 bytes/),
    "return { a: Array.from({ length: 2 ** 20 }, () => 'xxxxxxx') };": ended('RESULT_TOO_LARGE', /limit is 1048576/),
    "return '\u20ac'.repeat(2 ** 19);": ended('RESULT_TOO_LARGE', /1572866 bytes/),
    "return { get a() { throw new TypeError('mine'); } };": threw('mine', 'TYPE_ERROR'),
    "return { toJSON() { throw new Error('mine'); } };": threw('mine'),
    "throw 'text';": threw('text'),
    'throw undefined;': threw('undefined'),
    'throw null;': threw('null'),
    'throw 42;': threw('42'),
    'throw Symbol("s");': threw('Symbol(s)'),
    'throw 5n;': threw('5'),
    "throw new Error('');": threw('Error'),
    'throw () => 1;': threw('() => 1'),
    'throw {};': threw('[object Object]'),
    'throw Object.create(null);': threw(/cannot be turned into text/),
    "throw { message: 'm', code: 'C', status: 422, details: { field: 'a' } };": threw('m', 'C', 422, '{"field":"a"}'),
    "throw Object.assign(new Error('m'), { code: 20 });": threw('m', '20'),
    "throw Object.assign(new Error('m'), { status: '404' });": threw('m'),
    "throw Object.assign(new Error('m'), { status: 99 });": threw('m'),
    "throw Object.assign(new Error('m'), { status: 404.5 });": threw('m'),
    "throw Object.assign(new Error('m'), { code: 'SERVICE_UNAVAILABLE', status: 503 });": threw(
      'm',
      'SERVICE_UNAVAILABLE',
      503,
    ),
    "throw Object.assign(new Error('m'), { details: 5n });": threw('m'),
    'null.x;': threw(/Cannot read properties of null/, 'TYPE_ERROR'),
    'undeclared;': threw('undeclared is not defined', 'REFERENCE_ERROR'),
    "JSON.parse('{');": threw(/JSON/, 'SYNTAX_ERROR'),
    "const error = new Error('m'); Object.defineProperty(error, 'message', { get() { throw error; } }); throw error;":
      threw(/./),
    "throw new Proxy({}, { get() { throw new Error('trap'); }, getPrototypeOf() { throw new Error('trap'); } });":
      threw(/cannot be turned into text/),
    "throw new Error('x'.repeat(2 ** 20));": threw(/^x{8192}… \(1040384 more characters\)$/),
    "setTimeout(() => { throw new RangeError('late'); }, 1); await new Promise(() => {});": threw('late'),
    "queueMicrotask(() => { throw new RangeError('soon'); }); await new Promise(() => {});": threw('soon'),
    'const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy;': threw(/cannot be turned into text/),
    'const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy;': threw(/revoked/, 'TYPE_ERROR'),
  };
  for (const [body, end] of Object.entries(ends)) {
    const { outcome, escapes } = world.call(handler(body));
    t.match(outcome, end, body);
    t.strictSame(escapes, [], body);
  }
  t.end();
});

t.test('the SDK module and the runtime share one PluginError', async (t) => {
  const script = await bundle(`
    import { PluginError, pluginError, Speed } from '@openzeppelin/relayer-sdk';
    export async function handler({ api }) {
      if (Speed.SAFE_LOW !== 'safeLow') throw new Error('speed');
      try { await api.transactionWait({ id: 't1', relayer_id: 'r' }, { timeout: 250 }); }
      catch (error) {
        if (!(error instanceof PluginError)) throw new Error('another class');
        throw pluginError(error.name + ': ' + error.message, { code: 'LATE', status: error.status, details: { code: error.code ?? null } });
      }
    }`);
  const { outcome } = world.call(script, {
    answer: () => ({
      ok: false,
      error: { message: 'Transaction t1 timed out after 250ms', code: 'TIMEOUT', status: 504 },
    }),
  });
  t.strictSame(outcome, {
    kind: 'threw',
    message: 'PluginError: Transaction t1 timed out after 250ms',
    code: 'LATE',
    status: 504,
    details: '{"code":null}',
  });
});

t.test('ethers works in the sealed world', async (t) => {
  const script = await bundle(`
    import { getAddress, Interface, keccak256, toUtf8Bytes, Wallet } from 'ethers';
    export async function handler() {
      const wallet = new Wallet('0x' + '11'.repeat(32));
      let code;
      try { getAddress('0x1'); } catch (error) { code = error.code; }
      const transfer = new Interface(['function transfer(address to, uint256 amount)']);
      return {
        hash: keccak256(toUtf8Bytes('hello')),
        address: wallet.address,
        signature: (await wallet.signMessage('hi')).length,
        data: transfer.encodeFunctionData('transfer', [wallet.address, 5n]).length,
        random: Wallet.createRandom().address.length,
        code,
      };
    }`);
  const { outcome } = world.call(script);
  t.strictSame(returned(outcome), {
    hash: '0x1c8aff950685c2ed4bc3174f3472287b56d9517b9c948127319a09a7a36deac8',
    address: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A',
    signature: 132,
    data: 138,
    random: 42,
    code: 'INVALID_ARGUMENT',
  });
});

t.test('old-style classes and own names still work on frozen built-ins', (t) => {
  const { outcome } = world.call(
    handler(`'use strict';
      function Custom(message) { this.message = message; this.name = 'Custom'; }
      Custom.prototype = Object.create(Error.prototype);
      Custom.prototype.constructor = Custom;
      Custom.prototype.toString = function () { return 'custom ' + this.message; };
      const list = [];
      list.push = () => 'own push';
      const refused = [];
      for (const change of [
        () => { Object.prototype.toString = () => 'x'; },
        () => { Array.prototype.map = () => 'x'; },
        () => { Object.prototype.polluted = true; },
        () => { JSON.parse = () => 'x'; },
        () => { Promise.prototype.then = () => 'x'; },
      ]) {
        try { change(); refused.push(false); } catch (error) { refused.push(error instanceof TypeError); }
      }
      Error.stackTraceLimit = 3;
      return { text: String(new Custom('c')), push: list.push(1), own: Object.hasOwn(list, 'push'), refused };`),
  );
  t.strictSame(returned(outcome), {
    text: 'custom c',
    push: 'own push',
    own: true,
    refused: [true, true, true, true, true],
  });
  t.end();
});

function contextKeys(): string[] {
  return ['api', 'params', 'kv', 'headers', 'route', 'config', 'method', 'query', 'caller'];
}
