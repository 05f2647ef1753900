import vm, { runInNewContext } from 'node:vm';
import t from 'tap';
import { boot, loadFailureText, missingHandlerText } from '../../../guest/boot.ts';
import { fixArrayBuffer, removeGlobals, tolerateFrozenTargets } from '../../../guest/intrinsics/removed.ts';
import { GuestHost, replyText } from '../../support/guest-host.ts';

function open(
  script: string,
  setup = { env: { A: '1' }, reused: false, mentioned: [], limits: { result_bytes: 1000, calls: 10 } },
) {
  const context = vm.createContext();
  const global = vm.runInContext('globalThis', context) as typeof globalThis;
  const host = new GuestHost();
  const entries = boot(host.call, global);
  entries.setup(JSON.stringify(setup));
  vm.runInContext(script, context);
  const failure = entries.seal();
  return { host, entries, global, failure };
}

const invocation = JSON.stringify({
  params: {},
  headers: {},
  route: '',
  method: 'POST',
  query: {},
  caller: { keyId: 'k' },
});
const turn = () => new Promise((resolve) => setImmediate(resolve));

t.test('a call from beginning to end', async (t) => {
  const { host, entries, global } = open(`__isolayer_plugin__ = { handler: async (context) => {
    console.log(process.env.A);
    const value = await context.kv.get('k');
    await new Promise((resolve) => setTimeout(resolve, 20));
    return value;
  } };`);
  t.notOk('__isolayer_plugin__' in global);
  entries.invoke(invocation);
  t.strictSame(host.lines, ['log: 1']);
  entries.reply(replyText(1, { ok: true, value: 7 }));
  await turn();
  t.strictSame([...host.timers], [[1, 20]]);
  entries.fire(1);
  await turn();
  t.strictSame(host.outcome, { kind: 'returned', json: '7' });
});

t.test('a module without a handler, and one that throws, are told as they are sealed', (t) => {
  t.equal(open('__isolayer_plugin__ = { handler() {} };').failure, '');
  t.match(JSON.parse(open('__isolayer_plugin__ = {};').failure), { outcome: { message: /must export a handler/ } });
  const thrown = open('__isolayer_threw__ = { error: { name: "RangeError", message: "no price" } };');
  t.match(JSON.parse(thrown.failure), { outcome: { message: 'no price' }, report: /^Uncaught {.*no price/ });
  t.notOk('__isolayer_threw__' in thrown.global);
  t.notOk('WebAssembly' in thrown.global);
  t.end();
});

t.test('what a module threw is told as of a handler, with its stack beside it', (t) => {
  t.match(JSON.parse(loadFailureText(new TypeError('no price', { cause: 'why' }))), {
    outcome: { kind: 'threw', message: 'no price', code: 'TYPE_ERROR', status: 500, details: '{}' },
    report: /^Uncaught TypeError: no price\n\s+at [^]*\n\[cause\]: "why"$/,
  });
  t.match(JSON.parse(loadFailureText({ code: 'OWN', message: 'm', status: 422, details: { a: 1 } })), {
    outcome: { message: 'm', code: 'OWN', status: 422, details: '{}' },
    report: /^Uncaught {/,
  });
  t.end();
});

t.test('a module without a handler is told from one with it', (t) => {
  t.equal(missingHandlerText({ handler: () => 1 }), '');
  for (const [exported, told] of [
    [{}, 'it exports nothing'],
    [{ handler: 1 }, 'its handler is of type number'],
    [{ default: () => 1 }, 'it exports default'],
  ] as const) {
    const message = `Plugin must export a handler function; ${told}`;
    t.strictSame(JSON.parse(missingHandlerText(exported)), {
      outcome: {
        kind: 'threw',
        message,
        code: 'PLUGIN_ERROR',
        status: 500,
        details: '{}',
      },
      report: '',
    });
  }
  t.end();
});

t.test('takes away what must not be there, or fails', (t) => {
  const global = vm.runInNewContext('globalThis') as object;
  removeGlobals(global);
  for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry']) {
    t.notOk(name in global, name);
  }
  t.throws(() => removeGlobals(Object.freeze({ Atomics: 1 })), /Atomics cannot be removed/);
  t.end();
});

t.test('buffers keep their size, however their constructor is found', (t) => {
  const context = vm.createContext();
  fixArrayBuffer(vm.runInContext('globalThis', context) as typeof globalThis);
  const run = (code: string): unknown => vm.runInContext(code, context);
  t.equal(run('new ArrayBuffer(8, { maxByteLength: 16 }).byteLength'), 8);
  t.equal(
    run(
      'typeof new ArrayBuffer(8).resize + typeof new ArrayBuffer(8).transferToImmutable + typeof new ArrayBuffer(8).resizable',
    ),
    'undefinedundefinedundefined',
  );
  t.ok(run('new Uint8Array(1).buffer.constructor === ArrayBuffer && new Uint8Array(1).buffer instanceof ArrayBuffer'));
  t.equal(run('Object.getPrototypeOf(ArrayBuffer)'), Function.prototype, 'not the constructor that it replaces');
  t.ok(run('class Sub extends ArrayBuffer {}; new Sub(4) instanceof Sub && new Sub(4).byteLength === 4'));
  t.ok(run('new ArrayBuffer(4).slice(1) instanceof ArrayBuffer && ArrayBuffer[Symbol.species] === ArrayBuffer'));
  t.strictSame(
    run('[ArrayBuffer.name, ArrayBuffer.length, ArrayBuffer.isView(new Uint8Array(1))].join()'),
    'ArrayBuffer,1,true',
  );
  t.equal(
    run(
      'const old = new ArrayBuffer(4); const next = old.transfer(6); [old.detached, next.byteLength, next instanceof ArrayBuffer].join()',
    ),
    'true,6,true',
  );
  t.throws(() => run('ArrayBuffer(8)'), /requires 'new'/);
  t.throws(() => run('"use strict"; ArrayBuffer.prototype.constructor = Object'), /read only|Cannot assign/);
  t.throws(() => run('Object.defineProperty(ArrayBuffer.prototype, "constructor", { value: 1 })'), /Cannot redefine/);
  t.end();
});

t.test('what cannot take a stack goes without one, and all else has its own', (t) => {
  const realm = runInNewContext('globalThis') as typeof globalThis;
  tolerateFrozenTargets(realm);
  const run = (code: string) => runInNewContext(code, realm) as unknown;
  t.equal(run('const frozen = Object.freeze({}); Error.captureStackTrace(frozen); frozen.stack'), undefined);
  t.equal(run('Error.captureStackTrace(Object.freeze(function () {}))'), undefined);
  t.match(
    run('function made() { const own = {}; Error.captureStackTrace(own); return own.stack; } made()'),
    /^Error\n +at made/,
  );
  t.match(
    run(
      'function outer() { return inner(); } function inner() { const own = {}; Error.captureStackTrace(own, inner); return own.stack; } outer()',
    ),
    /^Error\n +at outer/,
  );
  t.throws(() => run('Error.captureStackTrace(5)'), { name: 'TypeError' });
  t.equal(run("Object.getOwnPropertyDescriptor(Error, 'captureStackTrace').enumerable"), false);
  t.end();
});
