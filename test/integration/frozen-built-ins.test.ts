/** Built-ins are frozen after a module has run. Code that changes one gets an error at that place. */
import t from 'tap';
import { startPluginHost } from '../support/plugin-host.ts';

const change = `
  String.prototype.shout = function () { return this + '!'; };
  export async function handler({ params }) {
    if (params.well) return 'a'.shout();
    String.prototype.last = function () { return this[this.length - 1]; };
    return 'ab'.last();
  }`;

/** The changes that a handler tries, one after the other. The guide says which are refused. */
const TRIES = `const tries: Record<string, () => unknown> = {
  'a method': () => { Array.prototype.flat = other; },
  'a name of the language': () => { (globalThis as any).Math = Math; },
  'a class of the web': () => { (URL.prototype as any).own = 1; },
  'a module of Node': () => { require('util').inspect = other; },
  'by defineProperty': () => Object.defineProperty(String.prototype, 'own', { value: 1 }),
  'by Object.assign': () => Object.assign(Math, { own: 1 }),
  'a delete': () => { delete (Array.prototype as any).flat; },
  'an own array': () => { ([] as any).map = other; },
  'an own map': () => { (new Map() as any).get = other; },
  'an own promise': () => { (Promise.resolve() as any).finally = other; },
  'an own date': () => { (new Date() as any).toJSON = other; },
  'constructor below arrays': () => { Object.create(Array.prototype).constructor = other; },
  'next of an array iterator': () => { ([].values() as any).next = other; },
  'toString of an array': () => { ([] as any).toString = other; },
  'then of a promise': () => { (Promise.resolve() as any).then = other; },
  'constructor below maps': () => { Object.create(Map.prototype).constructor = other; },
  'next of a generator': () => { ((function* () {})() as any).next = other; },
  'a name that arrays have not': () => { ([] as any).own = 1; },
  'a class': () => new (class extends Map { get() { return 1; } })().get(),
  'a literal': () => ({ hasOwnProperty: other, __proto__: Array.prototype }),
  'an own property': () => Object.defineProperty([], 'map', { value: other }),
  'a plain object': () => { ({} as any).hasOwnProperty = other; },
  'a function': () => { (other as any).call = other; },
  'bytes': () => { (new Uint8Array(1) as any).slice = other; (Buffer.alloc(1) as any).write = other; },
  'a regular expression': () => { (/a/ as any).exec = other; },
  'an object of the web': () => { (new Headers() as any).get = other; },
  'an object of Node': () => { (new (require('events'))() as any).emit = other; },
  'another global': () => { (globalThis as any).own = 1; },
  'RegExp.prototype': () => { (RegExp.prototype as any).own = 1; },
};
function other() {}
export const handler = () => Object.keys(tries).filter((name) => {
  try { tries[name]?.(); return false; } catch { return true; }
});`;
/** Changes that are refused in sloppy code too. There, plain assignments are ignored silently. */
const ANYWHERE = ['a module of Node', 'by defineProperty', 'by Object.assign'];
const REFUSED = [
  ...['a method', 'a name of the language', 'a class of the web', ...ANYWHERE, 'a delete'],
  ...['an own array', 'an own map', 'an own promise', 'an own date', 'constructor below arrays'],
  'next of an array iterator',
];

const files = {
  'tries.ts': TRIES,
  'sloppy-tries.ts': `import sloppy from 'sloppy';\n${TRIES}\nexport const kept = sloppy;`,
  'strict.ts': change,
  'sloppy.ts': `import sloppy from 'sloppy';\n${change}\nexport const kept = sloppy;
  if (!Math.f16round) { Math.f16round = Math.fround; }`,
  'sloppy-late.ts': `import sloppy from 'sloppy';\nexport const handler = async () => [sloppy, await import('./_patch.ts')].length;`,
  'node_modules/sloppy/index.js': `module.exports = function () { undeclared = 1; return undeclared; };`,
  'node_modules/sloppy/package.json': '{ "name": "sloppy" }',
  'late.ts': `export const handler = async () => { await import('./_patch.ts'); return 1; };`,
  '_patch.ts': `Math.random = () => 4;\nexport {};`,
  'masked.ts': `
    class OwnError extends Error {
      constructor(message: string) {
        super(message);
        (Error as any).captureStackTrace((new.target as any).constructor);
      }
    }
    export const handler = () => { throw new OwnError('the real reason'); };`,
};

t.test('a change of a built-in in a handler is an error with its place, or a warning', async (t) => {
  const entries = ['strict', 'sloppy', 'late'].map((id) => ({ id, emit_logs: true }));
  const { call, log, close } = await startPluginHost({ files, entries });
  t.teardown(close);
  t.equal((await call('strict', { well: true })).body.data, 'a!');
  const logs = ({ body }: { body: { metadata: { logs: { message: string }[] } } }) =>
    body.metadata.logs.map(({ message }) => message).join();
  const refused = await call('strict');
  t.match(refused.body.error, /Cannot add property last, object is not extensible/);
  t.match(logs(refused), /at handler \(plugins\/strict\.ts:5:/);
  const late = await call('late');
  t.match(late.body.error, /Cannot assign to read only property 'random'/);
  t.match(logs(late), /plugins\/_patch\.ts:1:/);

  t.match((await call('sloppy')).body.error, /last is not a function/);
  t.match(log(), /"target":"String\.prototype\.last","place":"plugins\/sloppy\.ts:6:\d+"/);
  t.notMatch(log(), /String\.prototype\.shout|f16round/);
  t.equal((await call('sloppy-late')).body.data, 2);
  t.match(log(), /"pluginId":"sloppy-late","target":"Math\.random","place":"plugins\/_patch\.ts:1:\d+"/);
  t.equal((await call('masked')).body.error, 'the real reason');
});

t.test('what may be changed in a handler is what the guide names', async (t) => {
  // The first use of all of these runs without a pause, and takes seconds on a slow machine.
  const limits = { slice_ms: 60_000, cpu_ms: 60_000 } as never;
  const entries = [
    { id: 'alone', path: 'tries.ts', isolation: 'call' as const, limits },
    { id: 'tries', limits },
    { id: 'sloppy-tries', limits },
  ];
  const { call, close } = await startPluginHost({ files, entries });
  t.teardown(close);
  t.strictSame((await call('tries')).body.data, REFUSED);
  // A change of a global or of RegExp.prototype is gone with the isolate.
  t.strictSame((await call('tries')).body.data, REFUSED);
  t.strictSame((await call('sloppy-tries')).body.data, ANYWHERE);
  t.strictSame((await call('alone')).body.data, [], 'where no isolate is shared nothing is frozen');
});
