import { ANY_DEATH, type Attack } from './attack.ts';

/** Programs that attack with the console. */
export const LOG_ATTACKS: readonly Attack[] = [
  {
    name: 'a flood of log lines',
    threat: 6,
    recovery: 'R4',
    body: "for (;;) console.log('x'.repeat(1000));",
    ends: ['CPU_LIMIT'],
  },
  {
    name: 'a flood of empty lines between other work',
    threat: 6,
    recovery: 'R4',
    body: 'for (;;) { for (let i = 0; i < 1000; i++) console.debug(); await null; }',
    ends: ['CPU_LIMIT'],
  },
  {
    name: 'a line of 200 MB',
    threat: 62,
    recovery: null,
    body: "console.log('x'.repeat(2e8)); console.error(Object('y'.repeat(1e7))); return 'logged';",
    ends: ['returned', ...ANY_DEATH],
  },
  {
    name: 'lines that forge other lines',
    threat: 62,
    recovery: null,
    body: "for (const s of ['\\r\\n{\"level\":60,\"msg\":\"forged\"}', '\\u001b[2J\\u001b]0;t\\u0007', '\\u202e\\u0000\\u2028\\ud800']) console.warn(s, { s, [s]: s }); return 'logged';",
    ends: ['returned'],
  },
  {
    name: 'values whose getters, traps and toJSON loop',
    threat: 62,
    recovery: 'R0',
    body: 'const loop = () => { for (;;); }; console.log({ get a() { loop(); } }); console.log(new Proxy({}, { getPrototypeOf: loop, get: loop }));',
    ends: ['CPU_LIMIT'],
  },
  {
    name: 'values that throw when they are looked at',
    threat: 62,
    recovery: null,
    body: `const boom = () => { throw new Proxy({}, { get: boom, getPrototypeOf: boom }); };
      for (const bad of [{ toJSON: boom }, new Proxy([], { get: boom }), new Proxy(() => {}, { getOwnPropertyDescriptor: boom }),
        Object.defineProperty(new Error('x'), 'stack', { get: boom }), { [Symbol.toPrimitive]: boom }, Object.create(null)]) {
        console.log(bad, [bad], { bad }); console.table(bad); console.dir(bad); console.group(bad); console.count(bad); console.assert(false, bad);
      }
      return 'logged';`,
    ends: ['returned'],
  },
  {
    name: 'a value that is shared over and over, logged',
    threat: 62,
    recovery: 'R0',
    body: 'let o = {}; for (let i = 0; i < 60; i++) o = { a: o, b: o }; console.log(o); return 1;',
    ends: ['returned', 'CPU_LIMIT'],
  },
  {
    name: 'a Map, a Set and a typed array of millions, logged',
    threat: 62,
    recovery: 'R0',
    body: 'const n = Array.from({ length: 2e5 }, (_, i) => i); console.log(new Map(n.map((i) => [i, i])), new Set(n), new Uint8Array(1e7)); return 1;',
    ends: ['returned', ...ANY_DEATH],
  },
  {
    name: 'a value that contains itself in every way, logged',
    threat: 62,
    recovery: null,
    body: 'const m = new Map(); const e = new Error("x"); m.set(m, e); e.cause = { m, e }; e.self = e; console.log(m, e); console.error(e); return 1;',
    ends: ['returned'],
  },
  {
    name: 'a toJSON that returns another one for ever, logged',
    threat: 62,
    recovery: 'R0',
    body: 'const next = () => ({ toJSON: next }); console.log(next()); return 1;',
    ends: ['returned', 'CPU_LIMIT', 'threw'],
  },
  {
    name: 'counters and clocks without an end',
    threat: 62,
    recovery: 'R0',
    body: "for (let i = 0; ; i++) { const name = i + 'x'.repeat(5000); console.count(name); console.time(name); console.group(); }",
    ends: ANY_DEATH,
  },
  {
    name: 'the output of the process',
    threat: 62,
    recovery: 'R0',
    body: "for (;;) { process.stdout.write('x'.repeat(1e5)); process.stderr.write('\\u001b[31m'); }",
    ends: ['CPU_LIMIT', 'threw'],
  },
];
