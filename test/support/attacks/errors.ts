import { ANY_DEATH, type Attack, TIME_OR_MEMORY } from './attack.ts';

const LOOP = 'const loop = () => { for (;;); };';
const define = (name: string) => `throw Object.defineProperty(new Error('x'), '${name}', { get: loop });`;

/** Programs that attack with the error that they throw. */
export const ERROR_ATTACKS: readonly Attack[] = [
  ...['message', 'name', 'code', 'status', 'details'].map(
    (name): Attack => ({
      name: `an error whose ${name} loops`,
      threat: 25,
      recovery: 'R1',
      body: `${LOOP} ${define(name)}`,
      ends: ['CPU_LIMIT'],
    }),
  ),
  {
    name: 'an error whose stack loops',
    threat: 25,
    recovery: 'R1',
    body: `${LOOP} const error = Object.defineProperty(new Error('x'), 'stack', { get: loop }); console.error(error); throw error;`,
    ends: ['CPU_LIMIT', 'threw'],
  },
  {
    name: 'a rejected getter',
    threat: 25,
    recovery: 'R1',
    body: `${LOOP} return await Promise.reject({ get message() { loop(); } });`,
    ends: ['CPU_LIMIT'],
  },
  {
    name: 'an unhandled rejection whose message loops',
    threat: 25,
    recovery: 'R1',
    body: `${LOOP} Promise.reject(Object.defineProperty(new Error('x'), 'message', { get: loop })); await new Promise(() => {});`,
    ends: ['CPU_LIMIT'],
  },
  {
    name: 'a prepareStackTrace that loops',
    threat: 25,
    recovery: 'R1',
    body: `${LOOP} Error.prepareStackTrace = loop; const { stack } = new Error('x'); throw new Error(stack);`,
    ends: ['CPU_LIMIT', 'threw'],
  },
  {
    name: 'a prepareStackTrace that loops on an error that nobody handles',
    threat: 25,
    recovery: 'R1',
    body: `${LOOP} Error.prepareStackTrace = loop; Promise.reject(new Error('x')); null.property;`,
    ends: ['CPU_LIMIT', 'threw'],
  },
  {
    name: 'a thrown Proxy whose traps loop',
    threat: 26,
    recovery: 'R2',
    body: `${LOOP} throw new Proxy({}, { get: loop, has: loop, getPrototypeOf: loop, getOwnPropertyDescriptor: loop, ownKeys: loop });`,
    ends: ['CPU_LIMIT'],
  },
  {
    name: 'a Proxy whose traps loop, rejected and left',
    threat: 26,
    recovery: 'R2',
    body: `${LOOP} Promise.reject(new Proxy({}, { get: loop, has: loop, getPrototypeOf: loop })); await new Promise((r) => setTimeout(r, 200)); return 1;`,
    ends: ['CPU_LIMIT', 'returned'],
  },
  {
    name: 'a Proxy of an error thrown from a timer',
    threat: 26,
    recovery: 'R2',
    body: `${LOOP} setTimeout(() => { throw new Proxy(new Error('x'), { get: loop, getPrototypeOf: loop }); }); await new Promise(() => {});`,
    ends: ['CPU_LIMIT'],
  },
  {
    name: 'a message of 100 MB',
    threat: null,
    recovery: null,
    body: "throw new Error('x'.repeat(1e8));",
    ends: ['threw', ...TIME_OR_MEMORY],
  },
  {
    name: 'a message that is an object whose text loops',
    threat: 25,
    recovery: 'R1',
    body: `${LOOP} throw { message: { toString: loop, [Symbol.toPrimitive]: loop } };`,
    ends: ['CPU_LIMIT'],
  },
  {
    name: 'causes a hundred thousand deep',
    threat: null,
    recovery: null,
    body: "let error = new Error('first'); for (let i = 0; i < 1e5; i++) error = new Error('later', { cause: error }); console.error(error); throw error;",
    ends: ['threw', ...ANY_DEATH],
  },
  {
    name: 'an error that causes itself',
    threat: null,
    recovery: null,
    body: "const error = new AggregateError([], 'x'); error.cause = error; error.errors.push(error); error.details = error; console.log(error); throw error;",
    ends: ['threw'],
  },
  {
    name: 'an error of a million errors',
    threat: null,
    recovery: null,
    body: "throw new AggregateError(new Array(1e6).fill(new Error('x')), 'many');",
    ends: ['threw', ...ANY_DEATH],
  },
  {
    name: 'details beyond every limit',
    threat: null,
    recovery: null,
    body: "let o = {}; for (let i = 0; i < 60; i++) o = [o, o]; throw Object.assign(new Error('x'), { details: o, code: 'c'.repeat(1e7), status: 1e9 });",
    ends: ['threw', 'CPU_LIMIT'],
  },
  {
    name: 'a status that ends no exchange',
    threat: null,
    recovery: null,
    body: "throw Object.assign(new Error('x'), { status: 204, code: 'NO_CONTENT' });",
    ends: ['threw'],
  },
  {
    name: 'a flood of unhandled rejections',
    threat: 28,
    recovery: 'R0',
    body: "for (;;) { Promise.reject(new Error('x'.repeat(1000))); await null; }",
    ends: TIME_OR_MEMORY,
  },
  {
    name: 'a rejection left for the next call',
    threat: 28,
    recovery: null,
    body: "Promise.reject(new Error('left behind')); setTimeout(() => Promise.reject(new Error('left later')), 0); return 'returned';",
    ends: ['returned'],
  },
  {
    name: 'a rejection with every kind of nothing',
    threat: 28,
    recovery: null,
    body: 'for (const nothing of [null, undefined, 0, Symbol("s"), 1n, "", () => {}, Object.create(null)]) Promise.reject(nothing); await new Promise((r) => setTimeout(r, 50)); throw null;',
    ends: ['threw'],
  },
];
