/**
 * Threat: data of one caller reach the call of the next one through objects that all calls of an isolate share. A
 * common set-by-path bug in a plugin is enough: `list.__proto__.0 = …`. Everything that a call can reach is frozen, or
 * its change ends the isolate. If one of these fails, look at `sandbox/guest/reuse/reused-globals.ts`.
 */
import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { GUEST_MODULES } from '../../sandbox/contract.ts';
import { hostFunctionOutsideCalls } from '../../sandbox/process/call-bridge.ts';
import { type GuestIsolate, GuestProgram, GuestRuntime } from '../../sandbox/process/isolate.ts';
import { contextText, guestRuntime, plugin } from '../../sandbox/test/support/sandbox.ts';
import { startPluginHost } from '../support/plugin-host.ts';

const runtime = new GuestRuntime(await guestRuntime());
const outside = hostFunctionOutsideCalls();
const SLICE_MS = 60_000;
const PEM = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });

/** An isolate, and what its guest sent to the host. */
function isolateWith(body: string, before = '') {
  const { code, ...version } = plugin(body, { env: { A: '1' }, limits: { memory_mb: 256 } });
  const program = new GuestProgram(runtime, { ...version, code: `${before}\n${code}` });
  const isolate = program.createIsolate(outside);
  const said: { op: string; text: string }[] = [];
  isolate.attach((op, text) => {
    said.push({ op, text });
    return op === 'request' || op === 'timer' ? '' : outside(op, text);
  });
  const call = (params: string | number | object = {}) => {
    isolate.enter('invoke', contextText(params as never), SLICE_MS);
    return said.findLast(({ op }) => op === 'returned' || op === 'done')?.text ?? '{}';
  };
  return { isolate, said, call };
}

/** Whether the isolate takes one more call. */
const servesOn = (isolate: GuestIsolate) =>
  isolate.sound && isolate.enter('invoke', contextText({}), SLICE_MS) !== 'changed';

/**
 * Walks from the global object, and from samples of everything that the runtime and the language offer. Calls
 * `visit(object, path)`.
 */
const WALK = `
  const paths = new Map();
  const queue = [];
  /** What a call has made itself outlives it nowhere. */
  const mine = new Set();
  const meet = (value, path) => {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || paths.has(value)) return;
    paths.set(value, path);
    queue.push(value);
  };
  const sample = (name, make) => {
    try {
      const value = make();
      mine.add(value);
      meet(value, name);
    } catch (error) {
      throw new Error(name + ': ' + error.message);
    }
  };
  /** What a getter makes anew each time is nobody else's. */
  const meetIfKept = (read, path) => {
    const value = read();
    if (value instanceof Promise) value.catch(() => {});
    else if (value === read()) meet(value, path);
  };
  const node = globalThis[Symbol.for('isolayer.module')];
  const MODULES = ${JSON.stringify(GUEST_MODULES)};
  const generator = function* () {};
  mine.add(generator.prototype);
  const controller = (Stream, options) => { let found; new Stream({ ...options, start(one) { found = one; } }); return found; };
  const samples = {
    context: () => context, relayer: () => context.api.useRelayer('r'), promise: () => context.kv.get('x'),
    array: () => [], pattern: () => /a/, boxed: () => Object(Symbol.iterator), template: () => ((strings) => strings)\`a\`,
    async: () => async () => {}, generator: () => function* () {}, asyncGenerator: () => async function* () {},
    generated: () => generator(), strings: () => ''[Symbol.iterator](), matches: () => 'a'.matchAll(/a/g),
    values: () => [].values(), mapKeys: () => new Map().keys(), setKeys: () => new Set().keys(), helper: () => [].values().take(1),
    wrapped: () => Iterator.from({ next() {} }), strict: () => (function () { 'use strict'; return arguments; })(),
    error: () => new Error('x'), aggregate: () => new AggregateError([]), bytes: () => new Uint8Array(1), view: () => new DataView(new ArrayBuffer(1)),
    date: () => new Date(), instant: () => new Date().toTemporalInstant(), zoned: () => Temporal.Now.zonedDateTimeISO('UTC'),
    stack: () => new DisposableStack(), asyncStack: () => new AsyncDisposableStack(), weak: () => new WeakMap(), weakSet: () => new WeakSet(),
    segments: () => new Intl.Segmenter('en').segment('a b'), segmentIterator: () => new Intl.Segmenter('en').segment('a b')[Symbol.iterator](),
    number: () => new Intl.NumberFormat('en'), duration: () => new Intl.DurationFormat('en'),
    timer: () => setTimeout(() => {}, 1e6), interval: () => setInterval(() => {}, 1e6), immediate: () => setImmediate(() => {}),
    url: () => new URL('https://a.example/?a=1'), query: () => new URLSearchParams('a=1').entries(), headers: () => new Headers({ a: 'b' }).entries(),
    form: () => new FormData().entries(), blob: () => new Blob(['a']), file: () => new File(['a'], 'a'), request: () => new Request('https://a.example'),
    response: () => new Response('a'), body: () => new Response('a').body, fetched: () => fetch('https://a.example').catch(() => {}),
    reader: () => new ReadableStream().getReader(), chunks: () => new ReadableStream().values(),
    byob: () => new ReadableStream({ type: 'bytes' }).getReader({ mode: 'byob' }), writer: () => new WritableStream().getWriter(),
    controller: () => controller(ReadableStream), byteController: () => controller(ReadableStream, { type: 'bytes' }),
    writeController: () => controller(WritableStream), transformController: () => controller(TransformStream),
    decoder: () => new TextDecoderStream(), encoder: () => new TextEncoderStream(), text: () => new TextEncoder(), utf8: () => new TextDecoder(),
    abort: () => new AbortController(), signal: () => AbortSignal.timeout(1e6), event: () => new Event('a'), target: () => new EventTarget(),
    thrown: () => new DOMException('a'), own: () => new globalThis[Symbol.for('isolayer.PluginError')]('a'), buffer: () => Buffer.from('a').entries(),
    digest: () => crypto.subtle.digest('SHA-256', new Uint8Array(1)), clone: () => structuredClone(new Map()), time: () => process.hrtime(),
    custom: () => new CustomEvent('a'), channel: () => new MessageChannel(), port: () => new MessageChannel().port1,
    compressor: () => new CompressionStream('gzip'), decompressor: () => new DecompressionStream('gzip'),
    routes: () => new URLPattern({ pathname: '/:a' }), route: () => new URLPattern({ pathname: '/:a' }).exec('https://a.example/b'),
    streamText: () => new Response('a').text(), cloned: () => new Blob(['a']).stream(),
    parsed: () => JSON.parse('{"a":[1]}'), regexp: () => /a/g.exec('a'), rejected: () => Promise.withResolvers(),
    trace: () => { const holder = {}; Error.captureStackTrace(holder); return holder; },
    emitter: () => new (node('events'))(), once: () => node('events').once(new (node('events'))(), 'a'),
    listens: () => node('events').on(new (node('events'))(), 'a'),
    readable: () => node('stream').Readable.from(['a']), writable: () => new (node('stream').Writable)(),
    transform: () => new (node('stream').PassThrough)(), lines: () => node('stream').Readable.from(['a'])[Symbol.asyncIterator](),
    hash: () => node('crypto').createHash('sha256'), hmac: () => node('crypto').createHmac('sha256', 'key'),
    cipher: () => node('crypto').createCipheriv('aes-128-gcm', 'k'.repeat(16), 'i'.repeat(12)),
    decipher: () => node('crypto').createDecipheriv('aes-128-cbc', 'k'.repeat(16), 'i'.repeat(16)),
    secret: () => node('crypto').createSecretKey(new Uint8Array(16)), webPair: () => crypto.subtle.generateKey('Ed25519', true, ['sign']),
    privateKey: () => node('crypto').createPrivateKey(${JSON.stringify(PEM)}), publicKey: () => node('crypto').createPublicKey(${JSON.stringify(PEM)}),
    signing: () => node('crypto').createSign('sha256'), verifying: () => node('crypto').createVerify('sha256'),
    storage: () => new (node('async_hooks').AsyncLocalStorage)(), resource: () => new (node('async_hooks').AsyncResource)('a'),
    legacyUrl: () => node('url').parse('https://a.example'),
    decoding: () => new (node('string_decoder').StringDecoder)(), output: () => new (node('console').Console)(process.stdout),
    assertion: () => { try { node('assert')(false); } catch (error) { return error; } },
    promised: () => node('util').promisify(setTimeout),
    later: () => node('timers/promises').setImmediate(),
    ticking: () => node('timers/promises').setInterval(1), consumer: () => node('stream/consumers').text(new Response('a').body),
  };
  /** What all calls get when they ask a module for it. */
  const shared = {
    ...Object.fromEntries(MODULES.map((name) => ['node:' + name, () => node(name)])),
    hooks: () => node('async_hooks').createHook({}),
    inspectOptions: () => node('util').inspect.defaultOptions,
  };
  const walk = (visit) => {
    meet(globalThis, 'globalThis');
    for (const [name, make] of Object.entries(shared)) meet(make(), name);
    for (const [name, make] of Object.entries(samples)) sample(name, make);
    for (let at = 0; at < queue.length; at++) {
      const object = queue[at];
      const path = paths.get(object);
      meet(Reflect.getPrototypeOf(object), path + '.__proto__');
      for (const key of Reflect.ownKeys(object)) {
        const { value, get, set } = Reflect.getOwnPropertyDescriptor(object, key);
        const next = path + '.' + String(key);
        // What a call has made is its own, up to the prototypes, which all share.
        for (const [found, end] of [[value, ''], [get, '<get>'], [set, '<set>']]) {
          if (mine.has(object) && ((typeof found === 'object' && found !== null) || typeof found === 'function') && !paths.has(found)) mine.add(found);
          meet(found, next + end);
        }
        if (get !== undefined) try { meetIfKept(() => get.call(object), next); } catch {}
      }
    }
    const visited = [...paths];
    for (const [object, path] of visited) if (!mine.has(object)) visit(object, path);
    return visited.length;
  };`;

/** A module that accesses everything while it loads. */
const ALL_LOADED = `for (const name of Object.getOwnPropertyNames(globalThis)) void globalThis[name];
  for (const name of ${JSON.stringify(GUEST_MODULES)}) {
    const module = globalThis[Symbol.for('isolayer.module')](name);
    for (const member of Object.keys(module)) void module[member];
  }`;

for (const [before, loaded] of [
  ['', 'in the call'],
  [ALL_LOADED, 'with the module'],
] as const)
  t.test(`nothing that a call reaches takes anything, but for what is watched: loaded ${loaded}`, (t) => {
    const { call, isolate } = isolateWith(
      `${WALK}
    const open = [];
    const size = walk((object, path) => { if (!Object.isFrozen(object)) open.push(path); });
    return { size, open };`,
      before,
    );
    const { size, open } = JSON.parse(call()) as { size: number; open: string[] };
    t.ok(size > 2000, `${size} objects`);
    t.strictSame(
      open.sort(),
      [
        ...['globalThis.Error', 'globalThis.__proto__', 'globalThis.console.__proto__', 'inspectOptions'],
        ...['node:process.__proto__', 'node:process.env', 'pattern.__proto__'],
      ],
      'each of these has its own test below',
    );
    t.ok(servesOn(isolate), 'to look changes nothing');
    isolate.dispose();
    t.end();
  });

t.test('a setter of what all share changes nothing, or says so', (t) => {
  const { call, isolate } = isolateWith(`${WALK}
    const accessors = [];
    walk((object, path) => {
      for (const key of Reflect.ownKeys(object)) {
        const { get, set } = Reflect.getOwnPropertyDescriptor(object, key);
        if (set !== undefined) accessors.push({ object, key, path: path + '.' + String(key), get, set });
      }
    });
    const log = console.log;
    for (const { object, key, path, get, set } of accessors) {
      const read = () => { try { return get?.call(object); } catch { return undefined; } };
      const before = read();
      const planted = { planted: path };
      try { set.call(object, planted); } catch {}
      // The text that was matched last has a test of its own.
      if (read() !== before && object !== RegExp) log('changed', path);
    }
    return accessors.length;`);
  const untold: string[] = [];
  let changes = 0;
  isolate.attach((op, text) => {
    if (op !== 'log') return op === 'request' || op === 'timer' ? '' : outside(op, text);
    if (isolate.sound) untold.push(text);
    isolate.sound = true;
    changes += 1;
    return '';
  });
  call();
  t.ok(changes > 100, `${changes} changes`);
  t.strictSame(untold, []);
  isolate.dispose();
  t.end();
});

/** Each leaves something behind for the next call. */
const MARKS = [
  'RegExp.prototype.exec = () => null',
  '/a/.__proto__.planted = 1',
  '/a/.constructor.prototype.test = () => true',
  "Object.defineProperty(RegExp.prototype, 'planted', { value: 1 })",
  "Object.defineProperty(RegExp.prototype, 'flags', { get: () => 'g' })",
  "Object.defineProperty(RegExp.prototype, 'exec', { writable: false })",
  'delete RegExp.prototype.test',
  'Object.freeze(RegExp.prototype)',
  'Object.setPrototypeOf(RegExp.prototype, {})',
  'Error.stackTraceLimit = 0',
  "Error.prepareStackTrace = () => 'mine'",
  "process.env.PLANTED = 'x'",
  "process.env.A = 'x'",
  'delete process.env.A',
  'Object.setPrototypeOf(process.env, { PLANTED: 1 })',
  'process.env = {}',
  "process.title = 'mine'",
  'console.log = () => {}',
  'console.planted = 1',
  'process.planted = 1',
  'Object.getPrototypeOf(console).planted = 1',
  'globalThis.planted = 1',
  'planted = 1',
  "globalThis[Symbol.for('planted')] = 1",
  'globalThis.fetch = () => 1',
  'setTimeout = () => 1',
  'Buffer = 1',
  'globalThis.fromModule = 2',
  'Object.getPrototypeOf(globalThis).planted = 1',
  "Object.defineProperty(Object.getPrototypeOf(globalThis), 'planted', { value: 1, configurable: true })",
  'onerror = () => true',
  "addEventListener('error', () => {})",
  "performance.addEventListener('planted', () => {})",
  "globalThis[Symbol.for('isolayer.module')]('events').defaultMaxListeners = 11",
  "globalThis[Symbol.for('isolayer.module')]('stream').setDefaultHighWaterMark(false, 1)",
];

t.test('a call that leaves something leaves its isolate to nobody', (t) => {
  for (const mark of MARKS) {
    const { call, isolate } = isolateWith(`${mark}; return 'fine';`, 'globalThis.fromModule = 1;');
    t.equal(call(), '"fine"', `${mark}: the call itself goes on`);
    call();
    t.notOk(servesOn(isolate), mark);
    isolate.dispose();
  }
  t.end();
});

t.test('what a call changes for itself, or puts back, costs it nothing', (t) => {
  const harmless = [
    'const limit = Error.stackTraceLimit; Error.stackTraceLimit = 100; Error.stackTraceLimit = limit',
    "Error.prepareStackTrace = () => 'mine'; Error.prepareStackTrace = undefined",
    'const mine = Object.create(globalThis); mine.fetch = 1; mine.planted = 1',
    "const url = new URL('https://a.example'); url.planted = 1; context.planted = 1; context.params.planted = 1",
    "class Mine extends Headers { planted = 1 } Mine.prototype.get = () => 1; new Mine().get('a')",
    'const list = []; list.push = () => 1; list.planted = 1; list.push(2)',
    "const map = new Map(); map.set = () => 1; map.constructor = 1; const error = new TypeError('x'); error.name = 'Mine'; error.toString = () => 'x'",
    "const pattern = /a/g; pattern.exec('aa'); pattern.lastIndex = 1; pattern.exec = () => null; pattern.test('a')",
    "fetch('https://a.example').catch(() => {}); crypto.randomUUID(); structuredClone([1]); Buffer.from('a').toString('hex')",
    'try { Array.prototype.planted = 1 } catch {} try { [].map.planted = 1 } catch {} try { Object.prototype.toString = 1 } catch {}',
    "(() => { 'use strict'; const caught = []; for (const take of [() => { [].__proto__[0] = 1 }, () => { Math.planted = 1 }, () => { JSON.parse = 1 }]) { try { take() } catch (error) { caught.push(error) } } if (caught.length !== 3) throw 1; })()",
  ];
  for (const before of ['', ALL_LOADED]) {
    for (const body of harmless) {
      const { call, isolate } = isolateWith(`{ ${body} } return 'fine';`, before);
      for (let time = 0; time < 3; time++) t.equal(call(), '"fine"', body);
      t.ok(servesOn(isolate), body);
      isolate.dispose();
    }
  }
  t.end();
});

t.test('what a call matched is not there for the next one', (t) => {
  const { call, isolate } = isolateWith(
    "const seen = [RegExp.lastMatch, RegExp.$1, RegExp.input, RegExp['$`']]; /(sec)ret/.exec(context.params.text); return seen;",
  );
  call({ text: 'the secret of one' });
  t.strictSame(JSON.parse(call({ text: 'the other' })), ['', '', '', '']);
  t.ok(servesOn(isolate));
  isolate.dispose();
  t.end();
});

t.test('what a call set or stored is not there for the next one', (t) => {
  const { call, isolate } = isolateWith(
    `const [util, { AsyncLocalStorage }] = ['util', 'async_hooks'].map(globalThis[Symbol.for('isolayer.module')]);
    const storage = (kept.storage ??= new AsyncLocalStorage());
    const seen = [util.inspect.defaultOptions.depth, storage.getStore() ?? null];
    util.inspect.defaultOptions = { depth: 9 };
    util.inspect.defaultOptions.depth = 8;
    storage.enterWith('secret');
    storage.enterWith('secret again');
    console.count();
    console.group();
    return seen;`,
  );
  for (let time = 0; time < 3; time++) t.strictSame(JSON.parse(call()), [2, null]);
  t.ok(servesOn(isolate));
  isolate.dispose();
  t.end();
});

t.test('what libraries do to their own objects works in the first call and in the next', (t) => {
  const { call, isolate } = isolateWith(`'use strict';
    function Custom(message) { this.message = message; this.name = 'Custom'; }
    Custom.prototype = Object.create(Error.prototype);
    Custom.prototype.constructor = Custom;
    Custom.prototype.toString = function () { return 'custom ' + this.message; };
    function Emitter() { Event.call; }
    Emitter.prototype = Object.create(EventTarget.prototype, { constructor: { value: Emitter, writable: true } });
    Emitter.prototype.addEventListener = function () { return 'own'; };
    class Answer extends Response { get ok() { return 'own'; } }
    Answer.prototype.json = () => 'own json';
    function Bytes() {}
    Object.setPrototypeOf(Bytes.prototype, Uint8Array.prototype);
    Bytes.prototype.toString = () => 'own bytes';
    Bytes.prototype.slice = () => 'own slice';
    const named = function () {};
    named.toString = () => 'own source';
    const bag = Object.create(null); bag.toString = 1; bag.__proto__ = 2;
    const plain = {}; plain.constructor = 1; plain.valueOf = () => 42; plain.hasOwnProperty = 1;
    const thenable = Object.create(Promise.prototype); thenable.then = (resolve) => resolve('own then');
    return [String(new Custom('c')), new Custom('d') instanceof Error, new Emitter().addEventListener(), new Answer('1').ok,
      new Answer('1').json(), String(new Bytes()), new Bytes().slice(), String(named), bag.toString, plain + 0, await thenable];`);
  const expected = [
    ...['custom c', true, 'own', 'own', 'own json', 'own bytes', 'own slice', 'own source', 1, 42, 'own then'],
  ];
  for (let time = 0; time < 2; time++) t.strictSame(JSON.parse(call()), expected);
  t.ok(servesOn(isolate));
  isolate.dispose();
  t.end();
});

t.test('a set-by-path bug in one call sends the next caller’s payment where that one said', async (t) => {
  const { call, close, services } = await startPluginHost({
    files: {
      'payout.ts': `
        export async function handler({ params, api }: any) {
          const order: any = { recipients: [], options: {}, pattern: /^0x[0-9a-f]{40}$/ };
          if (params.path) {
            const keys = params.path.split('.');
            const last = keys.pop();
            const target = keys.reduce((at: any, key: string) => at[key], order);
            try { target[last] = params.value; } catch (error) { return 'refused: ' + (error as Error).message; }
          }
          const [to = params.to] = order.recipients;
          const speed = order.options.speed ?? 'average';
          if (!order.pattern.test(params.to)) throw new Error('no address');
          return await api.useRelayer('known').sendTransaction({ to, speed });
        }`,
    },
  });
  t.teardown(close);
  const mine = `0x${'a'.repeat(40)}`;
  const theirs = `0x${'b'.repeat(40)}`;
  for (const path of [
    ...['recipients.__proto__.0', 'recipients.__proto__.Symbol', 'options.__proto__.speed', 'recipients.map.x'],
    ...['pattern.__proto__.test', 'pattern.constructor.prototype.exec', 'recipients.constructor.prototype.0'],
    ...['options.constructor.prototype.speed', 'recipients.push.__proto__.0', 'recipients.constructor.from'],
  ]) {
    await call('payout', { path, value: theirs, to: mine }).catch(() => undefined);
    services.sent.splice(0);
    const { body } = await call('payout', { to: mine });
    t.match(body, { success: true }, path);
    t.same(services.sent, [{ relayerId: 'known', body: { to: mine, speed: 'average' } }], path);
  }
});
