/** The web's globals as plugins see them: in real isolates, compared with Node's where Node has them. */
import { stop } from 'esbuild';
import t from 'tap';
import { GuestWorld } from '../support/guest-isolate.ts';
import { compareWithNode, compiled } from '../support/guest-oracle.ts';

t.teardown(stop);
const world = await GuestWorld.open();

t.test('events, aborting and messages do as Node’s', (t) =>
  compareWithNode(t, world, {
    'constants of errors': `return [DOMException.ABORT_ERR, DOMException.DATA_CLONE_ERR, new DOMException('m', 'AbortError').INDEX_SIZE_ERR, new DOMException('m', 'QuotaExceededError').code, new DOMException().code, new DOMException('m', '').code, Object.keys(DOMException).length];`,
    'events that carry something': `return [new CustomEvent('x', { detail: { a: 1 } }).detail, new CustomEvent('x').detail, new MessageEvent('m', { data: 5 }).data, new ErrorEvent('error', { message: 'm' }).message];`,
    'a passive listener': `const target = new EventTarget(); target.addEventListener('x', (event) => event.preventDefault(), { passive: true }); return target.dispatchEvent(new Event('x', { cancelable: true }));`,
    'the order of any': `const c = new AbortController(); const seen = []; const one = AbortSignal.any([c.signal]); const two = AbortSignal.any([one, new AbortController().signal]); two.addEventListener('abort', () => seen.push('two', one.aborted)); one.addEventListener('abort', () => seen.push('one', two.aborted)); c.signal.addEventListener('abort', () => seen.push('source', one.aborted, two.aborted)); c.abort('why'); return [seen, one.reason, two.reason, AbortSignal.any([]).aborted, AbortSignal.any([AbortSignal.abort(5), c.signal]).reason];`,
    'the place of a handler': `const c = new AbortController(); const seen = []; c.signal.onabort = () => seen.push('old'); c.signal.addEventListener('abort', () => seen.push('listener')); c.signal.onabort = () => seen.push('new'); c.abort(); return [seen, typeof c.signal.onabort];`,
    channel: `const { port1, port2 } = new MessageChannel(); const seen = []; const done = new Promise((resolve) => { port2.onmessage = ({ data }) => { seen.push(data); if (seen.length === 2) resolve(); }; }); const buffer = new ArrayBuffer(3); port1.postMessage({ a: new Map([[1, 2]]) }); port1.postMessage(buffer, [buffer]); await done; port1.close(); return [seen, buffer.byteLength];`,
    'clones with transfer': `const buffer = new Uint8Array([1, 2, 3]).buffer; const copy = structuredClone({ view: new Uint8Array(buffer, 1), buffer }, { transfer: [buffer] }); const blob = structuredClone(new Blob(['abc'], { type: 'text/x' })); const fails = []; for (const attempt of [() => structuredClone(buffer), () => structuredClone(1, { transfer: [1] }), () => structuredClone(() => 1)]) try { attempt(); } catch (error) { fails.push(error.name); } return [copy.view, copy.view.buffer === copy.buffer, buffer.byteLength, await blob.text(), blob.type, fails];`,
    'buffers that are handed on': `const a = new Uint8Array([1, 2]).buffer; const b = a.transfer(); const d = b.transferToFixedLength(4); return [a.detached, b.byteLength, d.byteLength, new Uint8Array(d), d instanceof ArrayBuffer, d.constructor === ArrayBuffer];`,
    performance: `return [typeof performance.now(), typeof performance.timeOrigin, performance instanceof Performance, performance instanceof EventTarget];`,
    compression: `const through = async (stream, data) => new Uint8Array(await new Response(new Blob([data]).stream().pipeThrough(stream)).arrayBuffer()); const text = 'abc '.repeat(9000); const out = []; for (const format of ['gzip', 'deflate', 'deflate-raw']) { const packed = await through(new CompressionStream(format), text); out.push(packed.length < 200, new TextDecoder().decode(await through(new DecompressionStream(format), packed)) === text, await through(new DecompressionStream(format), packed.slice(0, -2)).catch((error) => error.name)); } try { new CompressionStream('nope'); } catch (error) { out.push(error.name); } return out;`,
    URLPattern: `const p = new URLPattern({ pathname: '/books/:id(\\\\d+)/*' }); const found = p.exec('https://a.example/books/12/x/y?q'); return [p.test('https://a/books/1/'), p.test('https://a/books/x/'), found.pathname.groups, new URLPattern('https://*.example/:path').exec('https://a.example/b').hostname.groups, p.pathname, URLPattern.name, require('url').URLPattern === URLPattern];`,
    decoders: `const bytes = Uint8Array.from({ length: 128 }, (_, at) => at + 128); return ['koi8-r', 'iso-8859-2', 'iso-8859-15', 'windows-1251', 'macintosh', 'ibm866', 'windows-874', 'koi8-u'].map((label) => [new TextDecoder(label).encoding, new TextDecoder(label).decode(bytes)]).concat([['shift_jis', [0x82, 0xa0]], ['euc-jp', [0xa4, 0xa2]], ['gbk', [0xc4, 0xe3]], ['gb18030', [0x81, 0x30, 0x81, 0x30]], ['big5', [0xa7, 0x41]], ['euc-kr', [0xb0, 0xa1]], ['utf-16be', [0, 65]]].map(([label, list]) => [new TextDecoder(label).encoding, new TextDecoder(label).decode(Uint8Array.from(list))]));`,
    crypto: `return [crypto instanceof Crypto, crypto.subtle instanceof SubtleCrypto, String(crypto), typeof CryptoKey, typeof navigator.userAgent, navigator instanceof Navigator];`,
  }),
);

/** The result and the logs of a plugin with this body. */
async function called(body: string) {
  const script = await compiled(`export const handler = async (context) => { ${body} };`, 'tested.ts');
  const { outcome, logs } = world.call(script);
  return { outcome, lines: logs.map(({ level, message }) => `${level}: ${message}`) };
}

t.test('the global object is a target of events, and of errors that nobody caught', async (t) => {
  t.match(
    await called(
      `const seen = []; self.onerror = (message, file, line, column, error) => { seen.push(message, error.message); return true; };
       setTimeout(() => { throw new RangeError('late'); }, 1); await new Promise((resolve) => setTimeout(resolve, 5)); reportError(new Error('told'));
       globalThis.addEventListener('error', (event) => { seen.push(event.error.message); }); reportError(new Error('both')); self.onerror = null;
       globalThis.addEventListener('own', () => seen.push('own')); dispatchEvent(new CustomEvent('own')); return [seen, self === globalThis, isSecureContext];`,
    ),
    {
      outcome: {
        kind: 'returned',
        json: '[["Uncaught RangeError: late","late","Uncaught Error: told","told","Uncaught Error: both","both","both","own"],true,true]',
      },
    },
  );
  const { outcome } = await called(
    `self.onerror = () => { throw new Error('own'); }; reportError(new Error('told')); return 'on';`,
  );
  t.match(outcome, { kind: 'threw', message: 'told' }, 'a handler that fails has dealt with nothing');
});

t.test('the console fills in places and tells where it is', async (t) => {
  const { lines } = await called(
    `console.log('%s has %d of %o%%', 'a', 2, { b: 1 }, 'rest'); (function inner() { console.trace('here %s', 'now'); })();`,
  );
  t.equal(lines[0], 'log: a has 2 of {"b":1}% rest');
  t.match(lines[1], /^debug: Trace: here now\n\s+at inner \(.*tested/);
});
