/** Node's modules as plugins see them: in real isolates, compiled as in the service, compared with Node's own. */
import { builtinModules } from 'node:module';
import { stop } from 'esbuild';
import t from 'tap';
import { holdPage } from '../../../test/support/pages/held-page.ts';
import { GUEST_MODULES } from '../../contract.ts';
import { GuestWorld } from '../support/guest-isolate.ts';
import { compareWithNode, compiled } from '../support/guest-oracle.ts';
import { findExports, modulesPage } from '../support/modules-page.ts';
import { PluginFolder } from '../support/plugin-folder.ts';

const world = await GuestWorld.open();
t.teardown(stop);

t.test('the page tells what of each module is there', async (t) => {
  const found = await findExports(world);
  for (const [name, { working, refusing }] of Object.entries(found)) {
    const isProvided = GUEST_MODULES.some((known) => known === name);
    if (!isProvided) t.strictSame(working, [], `each function of ${name} throws`);
    else if (name !== 'crypto') t.strictSame(refusing, [], `no function of ${name} throws`);
  }
  holdPage(t, 'node-modules.md', modulesPage(found));
});

t.test('each can be imported in every way', async (t) => {
  for (const name of GUEST_MODULES) {
    const script = await compiled(
      `import whole from '${name}'; import * as all from 'node:${name}'; const required = require('${name}');
       export const handler = async () => {
         const late = await import('node:${name}');
         return [whole === required, late.default === whole, all.default === whole, Object.keys(required).every((key) => key in all)];
       };`,
      'tested.ts',
    );
    t.strictSame(world.call(script).outcome, { kind: 'returned', json: '[true,true,true,true]' }, name);
  }
});

t.test('util does as Node’s', (t) =>
  compareWithNode(t, world, {
    inspect: `const { inspect } = require('util'); class A { x = 1; get y() { return 2; } static z = 3; } const o = { a: { b: { c: { d: 1 } } } }; o.self = o;
      return [o, [1, , 3], new Map([[{ a: 1 }, 'b']]), new Set(['x']), new Date(0), /x/g, Symbol('s'), new A(), A, () => 1, function named() {}, null, undefined, -0, 5n,
        'text', "it's", new Error('boom').message, Object.create(null), new (class extends Map {})(), [['a'.repeat(80)], 'b'.repeat(90)], { [Symbol('k')]: 1 }, 
        new Uint8Array(3), new ArrayBuffer(2), Buffer.from('hi'), (function () { return arguments; })(1), new WeakMap(), Object('x'), async () => {}, function* () {}].map((one) => inspect(one));`,
    'inspect with options': `const { inspect } = require('util'); return [inspect({ a: { b: { c: {} } } }, { depth: 0 }), inspect({ a: 1, b: 'x' }, { compact: false }), inspect([1, 2, 3], { maxArrayLength: 1 }),
      inspect({ b: 1, a: 2 }, { sorted: true }), inspect('x'.repeat(20), { maxStringLength: 5 }), inspect({ a: 1 }, { colors: true }), inspect({ [inspect.custom]() { return 'own'; } }), inspect({ a: 1n }, { numericSeparator: true })];`,
    format: `const { format, formatWithOptions } = require('util'); return [format('%s %d %i %f %j %o %O %c %%', 'a', 1.5, 1.5, '1.5', { a: 1 }, [1], { b: 2 }, 'css'), format('a', 1, { b: [2] }), format(1, 2), format('%s', Symbol('x'), 5n), format('%d', '0x10'), format('%x', 1), format(), formatWithOptions({ compact: false }, '%O', { a: 1 })];`,
    promisify: `const { promisify, callbackify, inherits, deprecate } = require('util'); return [await promisify((a, done) => done(null, a))(3), promisify(setTimeout).name, await promisify((done) => done(new TypeError('x')))().catch((error) => error)];`,
    types: `const { types } = require('util'); return [types.isDate(new Date()), types.isPromise(Promise.resolve()), types.isUint8Array(Buffer.alloc(1)), types.isRegExp(/x/), types.isNativeError(new RangeError()), types.isAsyncFunction(async () => {}), types.isMap(new Map()), types.isArrayBuffer(new ArrayBuffer(1))];`,
    'small ones': `const util = require('util'); return [util.isDeepStrictEqual({ a: [1, new Date(0)] }, { a: [1, new Date(0)] }), util.stripVTControlCharacters('\\u001b[31mx\\u001b[0m'), util.toUSVString('\\ud800'), new util.TextEncoder().encode('€'), util.isArray([])];`,
  }),
);

t.test('events, streams and decoders do as Node’s', (t) =>
  compareWithNode(t, world, {
    emitter: `const EventEmitter = require('events'); const seen = []; class Own extends EventEmitter {} const own = new Own();
      own.once('a', (...args) => seen.push(args)); own.on('a', function () { seen.push(this === own); }); own.emit('a', 1, 2); own.emit('a');
      try { own.emit('error', new Error('unheard')); } catch (error) { seen.push(error); }
      setTimeout(() => own.emit('later', 5), 1); seen.push(await EventEmitter.once(own, 'later'), own.listenerCount('a')); return seen;`,
    iterator: `const { on, EventEmitter } = require('events'); const emitter = new EventEmitter(); setTimeout(() => { emitter.emit('x', 1); emitter.emit('x', 2); }, 1); const seen = []; for await (const [value] of on(emitter, 'x')) { seen.push(value); if (value === 2) break; } return seen;`,
    transform: `const { Readable, Transform, Writable, pipeline } = require('stream'); const out = [];
      await new Promise((resolve, reject) => pipeline(Readable.from(['a', 'b', 'c']), new Transform({ transform(chunk, encoding, done) { done(null, String(chunk).toUpperCase()); } }), new Writable({ write(chunk, encoding, done) { out.push(String(chunk)); done(); } }), (error) => (error ? reject(error) : resolve())));
      return out;`,
    'stream of bytes': `const { PassThrough } = require('stream'); const { text, buffer, json } = require('stream/consumers'); const stream = new PassThrough(); stream.write('{"a":'); stream.end('1}'); return json(stream);`,
    'async iteration': `const { Readable } = require('node:stream'); const seen = []; for await (const chunk of Readable.from([1, 2, 3]).map((value) => value * 2).filter((value) => value > 2)) seen.push(chunk); return [seen, await Readable.from([1, 2]).toArray(), await Readable.from([1, 2]).reduce((a, b) => a + b)];`,
    'an error of a stream': `const { Readable } = require('stream'); const { finished, pipeline } = require('stream/promises'); const broken = new Readable({ read() { this.destroy(new RangeError('broken')); } }); broken.resume(); return finished(broken).catch((error) => error);`,
    'a stream given up': `const { Readable, addAbortSignal } = require('stream'); const c = new AbortController(); const stream = addAbortSignal(c.signal, new Readable({ read() {} })); const ended = new Promise((resolve) => stream.on('error', resolve)); c.abort(); return (await ended).name;`,
    backpressure: `const { Writable } = require('stream'); const w = new Writable({ highWaterMark: 3, write(chunk, encoding, done) { setTimeout(done, 1); } }); const first = w.write('ab'); const second = w.write('cd'); await new Promise((resolve) => w.once('drain', resolve)); return [first, second, w.writableLength, w.writableHighWaterMark];`,
    duplex: `const { Duplex, compose } = require('stream'); const d = new Duplex({ read() { this.push('r'); this.push(null); }, write(chunk, encoding, done) { done(); } }); d.end('x'); const seen = []; for await (const chunk of d) seen.push(String(chunk)); return [seen, d instanceof require('stream').Readable, d instanceof require('stream')];`,
    decoder: `const { StringDecoder } = require('string_decoder'); const d = new StringDecoder('utf8'); return [d.write(Buffer.from([0xe2, 0x82])), d.write(Buffer.from([0xac])), d.end(), new StringDecoder('base64').write(Buffer.from('abcd')), new StringDecoder('hex').end(Buffer.from('ab'))];`,
    'old classes': `const { inherits } = require('util'); const { Readable } = require('stream'); function Old() { Readable.call(this); } inherits(Old, Readable); Old.prototype._read = function () { this.push('old'); this.push(null); }; const seen = []; for await (const chunk of new Old()) seen.push(String(chunk)); return seen;`,
  }),
);

t.test('paths, URLs and queries do as Node’s', (t) =>
  compareWithNode(t, world, {
    path: `const path = require('path'); return ['/a/../b', 'a//b/', '', '../x', '/foo/bar.tar.gz'].map((one) => [path.normalize(one), path.dirname(one), path.basename(one), path.extname(one), path.parse(one), path.join('/r', one), path.relative('/a/b', '/' + one), path.isAbsolute(one)]);`,
    'path of nothing': `return require('path').join(5);`,
    url: `const url = require('url'); return ['http://user:pa%20ss@host.com:8080/p/a?x=1&y=2#h', '//host/path', 'mailto:a@b.c', '/only?q', 'http://ex ample/', 'HTTP://ÜBER.de/ä', 'file:///a b', 'javascript:alert(1)', 'http://[::1]:80/'].map((one) => ({ ...url.parse(one, true) }));`,
    'url that is none': `return require('url').parse('http://a b%c.com:x');`,
    resolve: `const { resolve, format } = require('url'); return [['/one/two', 'three'], ['http://a.com/b/c', '../d'], ['http://a.com/', '//b.com/x'], ['http://a.com/b', '?q'], ['mailto:a@b.c', 'd@e.f'], ['http://a/b?c#d', '#e']].map(([a, b]) => resolve(a, b)).concat(format({ protocol: 'http', host: 'a.b', pathname: 'x', query: { c: 1 } }), format(new URL('http://a/b?c#d'), { fragment: false }));`,
    'file urls': `const url = require('url'); return [url.fileURLToPath('file:///a%20b'), url.pathToFileURL('/a b?#').href, url.domainToASCII('español.com'), url.domainToUnicode('xn--espaol-zwa.com'), new url.URL('http://x').href, url.urlToHttpOptions(new URL('http://u:p@a:1/b?c')).auth];`,
    querystring: `const qs = require('querystring'); return [qs.parse('a=1&b=2&a=3&c=%20x+y'), qs.stringify({ a: [1, 2], b: 'ü ', c: null }), qs.escape('a b&'), qs.unescape('%zz')];`,
    punycode: `const punycode = require('punycode'); return [punycode.toASCII('mañana.com'), punycode.toUnicode('xn--maana-pta.com'), punycode.encode('☃-⌘'), punycode.decode('--dqo34k'), punycode.ucs2.decode('\\ud834\\udf06')];`,
  }),
);

t.test('crypto does as Node’s as far as it goes', (t) =>
  compareWithNode(t, world, {
    hashes: `const { createHash, hash } = require('crypto'); return ['md5', 'sha1', 'sha256', 'SHA512', 'RSA-SHA256', 'sha384', 'sha224', 'ripemd160', 'sha3-256', 'sha512-256', 'blake2b512', 'blake2s256'].map((name) => [createHash(name).update('a').update(Buffer.from('b')).digest('hex'), hash(name === 'SHA512' ? 'sha512' : name, 'x')]);`,
    'forms of a digest': `const { createHash } = require('node:crypto'); const h = createHash('sha256').update('ff', 'hex'); return [h.copy().digest(), h.copy().digest('base64'), h.copy().digest('base64url'), h.update(new Uint16Array([1])).digest('latin1')];`,
    hmacs: `const { createHmac } = require('crypto'); return ['md5', 'sha1', 'sha256', 'sha512'].map((name) => createHmac(name, 'key').update('data').digest('hex')).concat(createHmac('sha256', Buffer.from('k')).update('x').digest('base64'));`,
    'a hash that is over': `const h = require('crypto').createHash('md5'); h.digest(); return h.update('x');`,
    'a digest twice': `const h = require('crypto').createHash('md5'); h.digest(); return h.digest();`,
    'an unknown hmac': `return require('crypto').createHmac('nope', 'k');`,
    'an unknown hash': `try { require('crypto').createHash('nope'); } catch (error) { return error.message; }`,
    'no name': `return require('crypto').createHash(5);`,
    random: `const c = require('crypto'); const b = Buffer.alloc(4); c.randomFillSync(b, 2); return [c.randomBytes(70000).length, c.randomUUID().length, b.subarray(0, 2), c.randomInt(1), c.randomInt(5, 6), await new Promise((done) => c.randomBytes(3, (error, bytes) => done([error, bytes.length]))), await new Promise((done) => c.randomInt(2, 3, (error, n) => done(n))), await new Promise((done) => c.randomFill(Buffer.alloc(2), (error, filled) => done(filled.length)))];`,
    'no range': `return require('crypto').randomInt(5, 5);`,
    'no size': `return require('crypto').randomBytes(-1);`,
    'safe equality': `const { timingSafeEqual } = require('crypto'); return [timingSafeEqual(Buffer.from('a'), Buffer.from('a')), timingSafeEqual(Buffer.from('a'), Buffer.from('b'))];`,
    'equality of other lengths': `return require('crypto').timingSafeEqual(Buffer.from('a'), Buffer.from('bc'));`,
    'the web’s': `const { webcrypto, subtle, getRandomValues } = require('crypto'); return [webcrypto.subtle === subtle, Buffer.from(await subtle.digest('SHA-256', Buffer.from('a'))).toString('hex'), getRandomValues(new Uint8Array(3)).length];`,
  }),
);

t.test('the others do as Node’s', (t) =>
  compareWithNode(t, world, {
    assert: `const assert = require('assert'); const failed = (run) => { try { run(); return 'held'; } catch (error) { return [error.name, error.code, error.message, error.operator]; } };
      return [() => assert.equal(1, 2), () => assert.strictEqual('a', 'b'), () => assert.deepStrictEqual({ a: [1, 2, { b: 3 }] }, { a: [1, 2, { b: 4 }] }), () => assert(1), () => assert.throws(() => { throw new TypeError('x'); }, TypeError), () => assert.fail('own'), () => assert.match('a', /b/), () => assert.deepEqual([1], ['1']), () => assert.strict.deepEqual([1], ['1'])].map(failed);`,
    'assert of promises': `const assert = require('node:assert/strict'); await assert.rejects(async () => { throw new Error('x'); }, /x/); return assert.doesNotReject(async () => 1);`,
    buffer: `const { Buffer: B, constants, kMaxLength, isUtf8, isAscii, transcode } = require('buffer'); return [B === Buffer, typeof constants.MAX_LENGTH, typeof kMaxLength, isUtf8(B.from('€')), isAscii(B.from('€')), isUtf8(B.from([0xff])), transcode(B.from('€'), 'utf8', 'latin1').length];`,
    'bytes and texts': `return ['utf8', 'hex', 'base64', 'base64url', 'latin1', 'ascii', 'utf16le', 'binary', 'ucs2'].map((encoding) => [Buffer.from('hällo€'.slice(0, 6), encoding === 'hex' ? 'utf8' : encoding).toString('hex'), Buffer.from([1, 2, 250, 251]).toString(encoding), Buffer.byteLength('abc', encoding)]);`,
    'numbers in buffers': `const b = Buffer.alloc(16); b.writeUInt32BE(0xdeadbeef, 0); b.writeInt16LE(-2, 4); b.writeDoubleBE(1.5, 6); b.writeBigUInt64LE(5n, 8); return [b, b.readUInt32BE(0), b.readInt16LE(4), b.readBigUInt64LE(8), b.swap16().toString('hex'), b.slice(2, 4), b.indexOf(5), b.equals(Buffer.from(b)), Buffer.compare(Buffer.from('a'), Buffer.from('b')), Buffer.concat([Buffer.from('a'), Buffer.from('b')]), b.fill('ab').toString(), b.includes('ba'), JSON.stringify(Buffer.from('x'))];`,
    'timers/promises': `const { setTimeout: sleep, setImmediate: soon } = require('timers/promises'); const timers = require('timers'); return [await sleep(1, 'a'), await soon('b'), typeof timers.setTimeout, await timers.promises.setTimeout(1, 'c')];`,
    async_hooks: `const { AsyncLocalStorage, AsyncResource } = require('async_hooks'); const storage = new AsyncLocalStorage(); const seen = [];
      const inner = async (name) => { await null; seen.push([name, storage.getStore()]); await new Promise((resolve) => setTimeout(resolve, 1)); for await (const one of (async function* () { yield 1; await 0; yield 2; })()) seen.push([name, one, storage.getStore()]); return storage.getStore(); };
      const results = []; for (const id of [1, 2]) results.push(await storage.run({ id }, () => inner(id)));
      const both = await Promise.all([storage.run('x', () => inner('x')), storage.run('y', () => inner('y'))]);
      return [results, both, seen.map(String).sort(), storage.getStore(), storage.run(1, () => storage.exit(() => storage.getStore())), AsyncResource.bind(() => storage.getStore())()];`,
    'a context in callbacks': `const { AsyncLocalStorage } = require('async_hooks'); const s = new AsyncLocalStorage(); return s.run(7, () => Promise.all([new Promise((r) => setTimeout(() => r(s.getStore()), 1)), new Promise((r) => setImmediate(() => r(s.getStore()))), new Promise((r) => queueMicrotask(() => r(s.getStore()))), new Promise((r) => process.nextTick(() => r(s.getStore()))), Promise.reject(1).catch(() => s.getStore()), Promise.resolve().finally(() => {}).then(() => s.getStore())]));`,
    console: `const { Console } = require('console'); const { Writable } = require('stream'); const lines = []; const own = new Console({ stdout: new Writable({ write(text, encoding, done) { lines.push(String(text)); done(); } }) }); own.log('a %d', 1, { b: 2 }); own.error('c'); return [lines, typeof require('console').log];`,
    os: `const os = require('os'); return [os.EOL, os.platform(), os.type(), os.endianness(), typeof os.cpus().length, os.devNull, os.constants.signals.SIGTERM];`,
    tty: `return require('tty').isatty(99);`,
    'what a module is': `return ['util', 'path', 'stream', 'events', 'assert', 'url', 'os', 'buffer', 'timers'].map((name) => name.length).length;`,
  }),
);

t.test('what is not there is said when it is used, and what it has in constants is there', async (t) => {
  const script = await compiled(
    `export const handler = async () => {
       const said = [];
       for (const use of uses) try { said.push(use()); } catch (error) { said.push(error.message + ' [' + error.code + ']'); }
       return said;
     };
     import { uses } from 'package';`,
    'tested.ts',
    folderWith(`
      const fs = require('fs'), http = require('node:http'), { createGunzip, constants } = require('zlib'), net = require('net');
      class Agent extends http.Agent {}
      exports.uses = [() => fs.readFileSync('/etc/passwd'), () => fs.promises.readFile('x'), () => new Agent(), () => http.get('http://x'), () => createGunzip(),
        () => new net.Socket(), () => require('child_process').exec('id'), () => new (require('worker_threads').Worker)('x'), () => require('dns/promises').lookup('x'),
        () => constants.Z_SYNC_FLUSH, () => http.STATUS_CODES[404], () => require('worker_threads').isMainThread, () => typeof fs.nothing];`),
  );
  const { outcome } = world.call(script);
  const said = JSON.parse(outcome?.kind === 'returned' ? outcome.json : '[]') as string[];
  const absent = (what: string, instead: RegExp) =>
    new RegExp(`^${what} is not there in a plugin\\. ${instead.source}.* \\[ERR_FEATURE_UNAVAILABLE_ON_PLATFORM\\]$`);
  t.match(said, [
    absent('fs\\.readFileSync', /There are no files: import a \.json/),
    absent('fs\\.promises\\.readFile', /There are no files/),
    absent('http\\.Agent', /There are no sockets: use fetch/),
    absent('http\\.get', /There are no sockets/),
    absent('zlib\\.createGunzip', /Use CompressionStream/),
    absent('net\\.Socket', /There are no sockets/),
    absent('child_process\\.exec', /There are no other processes/),
    absent('worker_threads\\.Worker', /There are no threads/),
    absent('dns/promises\\.lookup', /Names are looked up by fetch/),
    ...[2, 'Not Found', true, 'undefined'],
  ]);
  const others = builtinModules.filter((name) => !GUEST_MODULES.some((known) => known === name));
  const all = others.map((name) => `require('${name.startsWith('node:') ? name : `node:${name}`}')`).join(', ');
  const every = await compiled(
    `import { all } from 'package'; export const handler = () => all.length;`,
    'tested.ts',
    folderWith(`exports.all = [${all}];`),
  );
  t.strictSame(world.call(every).outcome, { kind: 'returned', json: String(others.length) }, 'each can be imported');
});

/** A plugins folder with one package. */
function folderWith(text: string): PluginFolder {
  return new PluginFolder({ 'node_modules/package/index.js': text, 'node_modules/package/package.json': '{}' });
}
