import { ANY_DEATH, type Attack } from './attack.ts';

/** Programs that attack with capability calls. */
export const CAPABILITY_ATTACKS: readonly Attack[] = [
  {
    name: 'capability calls awaited for ever',
    threat: 4,
    recovery: 'R1',
    body: "for (;;) await context.kv.exists('nothing');",
    ends: ['CALL_LIMIT', 'CPU_LIMIT'],
  },
  {
    name: 'refused capability calls for ever',
    threat: 4,
    recovery: 'R1',
    body: "for (;;) await context.api.useRelayer('nobody').getRelayer().catch(() => {});",
    ends: ['CALL_LIMIT', 'CPU_LIMIT'],
  },
  {
    name: 'capability calls that nobody awaits',
    threat: 5,
    recovery: 'R1',
    body: "for (;;) context.kv.get('nothing').catch(() => {});",
    ends: ['CALL_LIMIT', 'CPU_LIMIT'],
  },
  {
    name: 'capability calls by the hundred',
    threat: 5,
    recovery: 'R1',
    body: "for (;;) await Promise.allSettled(Array.from({ length: 200 }, () => context.kv.get('nothing')));",
    ends: ['CALL_LIMIT', 'CPU_LIMIT'],
  },
  {
    name: 'values too large to store',
    threat: null,
    recovery: null,
    body: "await context.kv.set('large', 'x'.repeat(2e6)).catch(() => {}); await context.kv.set('larger', 'x'.repeat(5e7));",
    ends: ['threw', 'MEMORY_LIMIT'],
  },
  {
    name: 'values stored until the store is full',
    threat: null,
    recovery: 'R1',
    body: "for (let i = 0; ; i++) await context.kv.set('k' + i, 'x'.repeat(500_000));",
    ends: ['threw', 'CALL_LIMIT', 'CPU_LIMIT', 'TIMEOUT'],
    limits: { kv_bytes: 4_000_000 },
  },
  {
    name: 'large values on their way all at once',
    threat: null,
    recovery: 'R1',
    body: "for (let i = 0; i < 250; i++) context.kv.set('k' + (i % 4), 'x'.repeat(900_000)).catch(() => {}); await new Promise((r) => setTimeout(r, 100)); return 1;",
    ends: ['returned', 'threw', ...ANY_DEATH],
    limits: { kv_bytes: 4_000_000 },
  },
  {
    name: 'keys that are anything but keys',
    threat: 59,
    recovery: null,
    body: `for (const key of ['../other', '', 'a'.repeat(1e6), '__proto__', '%', "'; DROP TABLE kv;--", null, {}, { toString: () => 'a' }, ['a'], 1n, Symbol('s')]) {
        await context.kv.get(key).catch(() => {}); await context.kv.set(key, 1).catch(() => {});
      }
      return 'refused';`,
    ends: ['returned'],
  },
  {
    name: 'a pattern that matches the slow way',
    threat: 10,
    recovery: 'R0',
    body: "for (let i = 0; i < 5; i++) await context.kv.set('a'.repeat(500) + i, 1); for (;;) await context.kv.listKeys('*a'.repeat(500) + '*b');",
    ends: ['CALL_LIMIT', 'CPU_LIMIT', 'threw'],
  },
  {
    name: 'parameters nested beyond any reader',
    threat: 23,
    recovery: null,
    body: "let deep = 1; for (let i = 0; i < 1500; i++) deep = [deep]; await context.api.useRelayer('r').rpc(deep);",
    ends: ['threw'],
  },
  {
    name: 'parameters of a megabyte of tiny values',
    threat: 22,
    recovery: null,
    body: "await context.api.useRelayer('r').rpc(new Array(300_000).fill([]));",
    ends: ['threw', 'CPU_LIMIT'],
  },
  {
    name: 'parameters that change while they are read',
    threat: 35,
    recovery: null,
    body: `let reads = 0;
      const request = { get to() { return reads++ === 0 ? '0x1' : '0x2'; }, toJSON() { return new Proxy({ value: reads++ }, { get: () => reads++ }); } };
      await context.api.useRelayer('nobody').sendTransaction(request);`,
    ends: ['threw'],
  },
  {
    name: 'parameters whose getters call again',
    threat: 35,
    recovery: 'R0',
    body: "const request = () => ({ get to() { context.api.useRelayer('nobody').sendTransaction(request()).catch(() => {}); return 1; } }); await context.api.useRelayer('nobody').sendTransaction(request());",
    ends: ['threw', 'CPU_LIMIT', 'CALL_LIMIT', 'MEMORY_LIMIT'],
  },
  {
    name: 'relayers with names of their own making',
    threat: 59,
    recovery: null,
    body: `for (const id of ['__proto__', 'constructor', '../signers', '', null, {}, 'a\\u0000b', 'x'.repeat(1e6)]) {
        try { await context.api.useRelayer(id).getRelayer(); throw new Error('escaped: a relayer named ' + String(id)); }
        catch (error) { if (/escaped/.test(error.message)) throw error; }
      }
      return 'refused';`,
    ends: ['returned'],
  },
  {
    name: 'fetches to where a plugin must not go',
    threat: 65,
    recovery: null,
    body: `for (const url of ['http://127.0.0.1/', 'http://localhost:8080/health', 'http://169.254.169.254/latest/meta-data/', 'http://[::1]/', 'http://2130706433/',
        'http://0x7f.1/', 'http://[::ffff:127.0.0.1]/', 'file:///etc/passwd', 'ftp://127.0.0.1/', 'data:text/plain,x', 'http://user:pass@127.0.0.1/', 'unix:/socket']) {
        const answer = await fetch(url).then((response) => 'escaped: ' + url, () => 'refused');
        if (answer !== 'refused' && !url.startsWith('data:')) throw new Error(answer);
      }
      return 'refused';`,
    ends: ['returned'],
  },
  {
    name: 'a flood of refused fetches',
    threat: 65,
    recovery: 'R1',
    body: "for (;;) await fetch('http://127.0.0.1:1/').catch(() => {});",
    ends: ['CALL_LIMIT', 'CPU_LIMIT'],
  },
  {
    name: 'a flood of fetches given up at once',
    threat: null,
    recovery: 'R1',
    body: "for (;;) { const c = new AbortController(); const f = fetch('http://127.0.0.1:1/', { signal: c.signal }).catch(() => {}); c.abort(); await f; }",
    ends: ['CALL_LIMIT', 'CPU_LIMIT'],
  },
  {
    name: 'a fetch whose body has no end',
    threat: null,
    recovery: 'R0',
    body: "await fetch('http://127.0.0.1:1/', { method: 'POST', duplex: 'half', body: new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(2 ** 20)); } }) });",
    ends: ['threw', ...ANY_DEATH],
  },
  {
    name: 'a lock that is never given back',
    threat: 64,
    recovery: 'R1',
    body: "await context.kv.withLock('kept', () => new Promise(() => {}));",
    ends: ['TIMEOUT'],
  },
  {
    name: 'locks without an end',
    threat: 64,
    recovery: null,
    body: "for (let i = 0; i < 200; i++) context.kv.withLock('l' + i, () => new Promise(() => {})).catch(() => {}); await new Promise((r) => setTimeout(r, 200)); return 'returned';",
    ends: ['returned'],
  },
  {
    name: 'a lock waited for inside itself',
    threat: 64,
    recovery: null,
    body: "await context.kv.withLock('own', () => context.kv.withLock('own', () => 1));",
    ends: ['threw'],
  },
  {
    name: 'the runtime’s own number of a lock, made up',
    threat: 59,
    recovery: null,
    body: "const { kv } = context; for (const name of ['unlock', 'lock', 'fence']) if (name in kv) throw new Error('escaped: ' + name); return Object.keys(kv).length;",
    ends: ['returned'],
  },
];
