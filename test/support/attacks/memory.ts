import { ANY_DEATH, type Attack } from './attack.ts';

/** Programs that exhaust memory: the engine's heap, and memory outside it. */
export const MEMORY_ATTACKS: readonly Attack[] = [
  {
    name: 'a Map that grows for ever',
    threat: 20,
    recovery: 'R2',
    body: 'const m = new Map(); for (let i = 0; ; i++) m.set(i, { i });',
    ends: ANY_DEATH,
  },
  {
    name: 'an object that grows for ever',
    threat: 20,
    recovery: 'R2',
    body: "const o = {}; for (let i = 0; ; i++) o['key' + i] = { i };",
    ends: ANY_DEATH,
  },
  {
    name: 'arrays pushed for ever',
    threat: 20,
    recovery: 'R2',
    body: 'const a = []; while (true) a.push(new Array(1000).fill(1.5));',
    ends: ANY_DEATH,
  },
  {
    name: 'symbols that everybody shares',
    threat: 20,
    recovery: 'R2',
    body: "for (let i = 0; ; i++) Symbol.for('x'.repeat(1000) + i);",
    ends: ANY_DEATH,
  },
  {
    name: 'closures that keep each other',
    threat: 20,
    recovery: 'R2',
    body: 'let f = () => 0; for (;;) { const g = f; const big = new Array(100).fill(g); f = () => [g, big]; }',
    ends: ANY_DEATH,
  },
  {
    name: 'a chain of promises without an end',
    threat: 20,
    recovery: 'R2',
    body: 'let p = new Promise(() => {}); for (;;) p = p.then((x) => x);',
    ends: ANY_DEATH,
  },
  {
    name: 'memory that the collector has to look through',
    threat: null,
    recovery: 'R0',
    body: 'let list = null; for (;;) { list = { list, n: [1, 2, 3] }; if (Math.random() < 1e-6) list = null; }',
    ends: ANY_DEATH,
  },
  {
    name: 'hashes of more than there is',
    threat: null,
    recovery: 'R0',
    body: `const { createHash } = globalThis[Symbol.for('isolayer.module')]('crypto');
      const hash = createHash('sha512'); for (;;) { hash.update('x'.repeat(4e6)); try { hash.copy().digest(); } catch {} }`,
    ends: ANY_DEATH,
  },
  {
    name: 'random bytes by the gigabyte',
    threat: null,
    recovery: 'R0',
    body: "const { randomBytes } = globalThis[Symbol.for('isolayer.module')]('crypto'); const kept = []; for (;;) kept.push(randomBytes(2 ** 24));",
    ends: ANY_DEATH,
  },
  {
    name: 'resizable buffers',
    threat: 13,
    recovery: 'R4',
    body: `const kept = [];
      for (let i = 0; i < 32; i++) kept.push(new ArrayBuffer(0, { maxByteLength: 2 ** 25 }));
      for (const buffer of kept) if (buffer.resizable) { buffer.resize(2 ** 25); throw new Error('escaped: it grew'); }
      return kept.length;`,
    ends: ['returned'],
  },
  {
    name: 'a compression bomb',
    threat: null,
    recovery: 'R4',
    body: `const through = (stream, data) => new Blob([data]).stream().pipeThrough(stream);
      let bomb = new Uint8Array(2 ** 22); for (let i = 0; i < 2; i++) bomb = new Uint8Array(await new Response(through(new CompressionStream('deflate'), bomb)).arrayBuffer());
      const unpacked = (data) => through(new DecompressionStream('deflate'), data);
      const kept = []; for (;;) { for await (const once of unpacked(bomb)) for await (const twice of unpacked(once.slice())) kept.push(twice); }`,
    ends: [...ANY_DEATH],
  },
  {
    name: 'a compression bomb that nobody reads',
    threat: null,
    recovery: 'R4',
    body: `const packed = new Uint8Array(await new Response(new Blob([new Uint8Array(2 ** 22)]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer());
      const kept = []; for (;;) { const stream = new DecompressionStream('gzip'); kept.push(stream); const writer = stream.writable.getWriter(); writer.write(packed).catch(() => {}); stream.readable.getReader().read(); await null; }`,
    ends: [...ANY_DEATH],
  },
  {
    name: 'messages for ever between two ports',
    threat: null,
    recovery: 'R0',
    body: 'const { port1, port2 } = new MessageChannel(); const on = () => { port1.postMessage(1); port2.postMessage(new Array(1e5).fill(2)); }; port1.onmessage = on; port2.onmessage = on; on(); await new Promise(() => {});',
    ends: [...ANY_DEATH],
  },
  {
    name: 'errors that report themselves',
    threat: null,
    recovery: null,
    body: "globalThis.onerror = () => { reportError(new Error('again')); throw new Error('own'); }; globalThis.addEventListener('error', () => { reportError(new Error('once more')); }); for (;;) reportError(new Error('first'));",
    ends: ['threw', 'CPU_LIMIT', 'MEMORY_LIMIT'],
  },
  {
    name: 'buffers that become larger as they are handed on',
    threat: null,
    recovery: 'R4',
    body: 'const kept = []; for (;;) kept.push(new ArrayBuffer(8).transfer(2 ** 25));',
    ends: ANY_DEATH,
  },
  {
    name: 'every way back to a buffer that grows',
    threat: 13,
    recovery: 'R4',
    body: `const found = [ArrayBuffer, new Uint8Array(1).buffer.constructor, new Float64Array(1).buffer.constructor,
        Object.getPrototypeOf(new DataView(new ArrayBuffer(1)).buffer).constructor, Buffer.from('a').buffer.constructor,
        new TextEncoder().encode('a').buffer.constructor, structuredClone(new ArrayBuffer(1)).constructor,
        new ArrayBuffer(1).slice(0).constructor, new ArrayBuffer(1).transfer().constructor, structuredClone(new ArrayBuffer(1), { transfer: [new ArrayBuffer(1)] }).constructor, Uint8Array.from([1]).buffer.constructor, ArrayBuffer[Symbol.species],
        (await new Blob(['a']).arrayBuffer()).constructor, (await new Response('a').arrayBuffer()).constructor,
        (await crypto.subtle.digest('SHA-256', new Uint8Array(1))).constructor];
      for (const Found of found) {
        for (const made of [new Found(8, { maxByteLength: 2 ** 25 }), Reflect.construct(Found, [8, { maxByteLength: 2 ** 25 }]),
          Reflect.construct(Found, [8, { maxByteLength: 2 ** 25 }], class extends Found {}),
          new (class extends Found { constructor() { super(8, { maxByteLength: 2 ** 25 }); } })()]) {
          if (made.maxByteLength > 8 || made.resizable) throw new Error('escaped: a buffer that grows');
        }
      }
      for (const name of ['resize', 'maxByteLength', 'resizable', 'transferToImmutable']) {
        if (name in ArrayBuffer.prototype) throw new Error('escaped: ' + name);
      }
      return found.length;`,
    ends: ['returned'],
  },
  {
    name: 'shared memory that grows',
    threat: 14,
    recovery: 'R4',
    body: 'return new SharedArrayBuffer(0, { maxByteLength: 2 ** 30 }).grow(2 ** 30);',
    ends: ['threw'],
  },
  {
    name: 'the memory of WebAssembly',
    threat: 15,
    recovery: 'R4',
    body: 'return new WebAssembly.Memory({ initial: 30000 }).buffer.byteLength;',
    ends: ['threw'],
  },
  {
    name: 'WebAssembly as the way back to shared memory',
    threat: 16,
    recovery: 'R4',
    body: 'return new WebAssembly.Memory({ shared: true, initial: 1, maximum: 9 }).buffer.constructor.name;',
    ends: ['threw'],
  },
  {
    name: 'sixty-four buffers of 16 MB',
    threat: 17,
    recovery: 'R0',
    body: 'const kept = []; for (let i = 0; i < 64; i++) kept.push(new ArrayBuffer(2 ** 24)); return kept.length;',
    ends: ANY_DEATH,
  },
  {
    name: 'buffers whose every page is written',
    threat: 17,
    recovery: 'R0',
    body: 'const kept = []; for (;;) try { kept.push(new Uint8Array(2 ** 24).fill(1)); } catch {}',
    ends: ANY_DEATH,
  },
  {
    name: 'a million small buffers',
    threat: 17,
    recovery: 'R0',
    body: 'const kept = []; for (;;) kept.push(new Uint8Array(4096).fill(1));',
    ends: ANY_DEATH,
  },
  {
    name: 'slices of buffers',
    threat: 17,
    recovery: 'R0',
    body: 'const first = new Uint8Array(2 ** 24).fill(1); const kept = []; for (;;) kept.push(first.slice(), first.buffer.slice(0));',
    ends: ANY_DEATH,
  },
  {
    name: 'Buffer as a way to memory',
    threat: 17,
    recovery: 'R0',
    body: "const kept = []; for (;;) kept.push(Buffer.alloc(2 ** 23, 'x'), Buffer.concat([Buffer.allocUnsafe(2 ** 22).fill(1)]));",
    ends: ANY_DEATH,
  },
  {
    name: 'encoded text as a way to memory',
    threat: 17,
    recovery: 'R0',
    body: "const text = '€'.repeat(2 ** 20); const kept = []; for (;;) kept.push(new TextEncoder().encode(text));",
    ends: ANY_DEATH,
  },
  {
    name: 'clones of clones',
    threat: 17,
    recovery: 'R0',
    body: 'let all = [new Uint8Array(2 ** 20).fill(1)]; for (;;) all = [...all, ...structuredClone(all)];',
    ends: ANY_DEATH,
  },
  {
    name: 'blobs of blobs',
    threat: 17,
    recovery: 'R0',
    body: "let blob = new Blob(['x'.repeat(2 ** 20)]); for (;;) { blob = new Blob([blob, blob]); await blob.arrayBuffer(); }",
    ends: ANY_DEATH,
  },
  {
    name: 'a form without an end',
    threat: 17,
    recovery: 'R0',
    body: "const form = new FormData(); for (let i = 0; ; i++) form.append('f' + i, new Blob([new Uint8Array(2 ** 20).fill(i)]));",
    ends: ANY_DEATH,
  },
  {
    name: 'a stream that nobody empties',
    threat: 17,
    recovery: 'R0',
    body: 'new ReadableStream({ start(c) { for (;;) c.enqueue(new Uint8Array(2 ** 20).fill(1)); } });',
    ends: ANY_DEATH,
  },
  {
    name: 'a stream cut in two of which one half is read',
    threat: 17,
    recovery: 'R0',
    body: `const stream = new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(2 ** 20).fill(1)); } });
      const [one] = stream.tee(); const reader = one.getReader(); for (;;) await reader.read();`,
    ends: ANY_DEATH,
  },
  {
    name: 'a body without an end',
    threat: 17,
    recovery: 'R0',
    body: 'return await new Response(new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(2 ** 20)); } })).text();',
    ends: ANY_DEATH,
  },
  {
    name: 'arrays of numbers of every type',
    threat: 17,
    recovery: 'R0',
    body: `const kept = [];
      for (;;) for (const Type of [Float64Array, BigUint64Array, Uint8ClampedArray, Int16Array, Float32Array]) {
        kept.push(new Type(2 ** 20).fill(Type === BigUint64Array ? 1n : 1));
      }`,
    ends: ANY_DEATH,
  },
  {
    name: 'a species that makes more than was asked for',
    threat: 17,
    recovery: 'R0',
    body: `const kept = [];
      class Greedy extends Uint8Array { static get [Symbol.species]() { return function (n) { const a = new Uint8Array(2 ** 24).fill(1); kept.push(a); return a; }; } }
      const greedy = new Greedy(8); for (;;) { greedy.map((x) => x); greedy.slice(1); greedy.subarray(0, 1); }`,
    ends: ANY_DEATH,
  },
  {
    name: 'texts of half a gigabyte',
    threat: null,
    recovery: 'R0',
    body: "const kept = []; for (let i = 0; ; i++) { const s = (i + 'x').repeat(2 ** 24); s.at(-1); kept.push(s + s.toUpperCase()); }",
    ends: ANY_DEATH,
  },
  {
    name: 'texts made longer by every built-in',
    threat: null,
    recovery: 'R0',
    body: `const kept = [];
      for (let i = 0; ; i++) kept.push('x'.padEnd(2 ** 22 + i), String.raw({ raw: new Array(2 ** 18).fill('yyyy') }),
        encodeURIComponent('é'.repeat(2 ** 19)), btoa('a'.repeat(2 ** 20)), 'ß'.repeat(2 ** 19).toUpperCase());`,
    ends: ANY_DEATH,
  },
  {
    name: 'matches of an expression with a thousand groups',
    threat: null,
    recovery: 'R0',
    body: "const e = new RegExp('()'.repeat(1000) + 'a', 'g'); const kept = []; for (;;) kept.push([...'a'.repeat(1e4).matchAll(e)]);",
    ends: ANY_DEATH,
  },
  {
    name: 'a stack trace without a limit',
    threat: null,
    recovery: 'R0',
    body: `Error.stackTraceLimit = Infinity; const kept = [];
      const go = () => { kept.push(new Error('x').stack); go(); }; for (;;) try { go(); } catch {}`,
    ends: ANY_DEATH,
  },
  {
    name: 'functions compiled for ever',
    threat: 43,
    recovery: 'R0',
    body: "const kept = []; for (let i = 0; ; i++) { const f = new Function('return ' + i + '+[' + '0,'.repeat(500) + ']'); f(); kept.push(f); }",
    ends: ANY_DEATH,
  },
  {
    name: 'listeners that nobody calls',
    threat: null,
    recovery: 'R0',
    body: 'const signal = new AbortController().signal; for (;;) signal.addEventListener("abort", () => new Array(100).fill(signal));',
    ends: ANY_DEATH,
  },
  {
    name: 'signals that follow signals',
    threat: null,
    recovery: 'R0',
    body: 'let signal = new AbortController().signal; const kept = []; for (;;) { signal = AbortSignal.any([signal, ...kept.slice(-50)]); kept.push(signal); }',
    ends: ANY_DEATH,
  },
];
