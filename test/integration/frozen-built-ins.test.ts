/** Built-ins are frozen once a module has run, and who changes one is told where it was tried. */
import t from 'tap';
import { startPluginHost } from '../support/plugin-host.ts';

const change = `
  String.prototype.shout = function () { return this + '!'; };
  export async function handler({ params }) {
    if (params.well) return 'a'.shout();
    String.prototype.last = function () { return this[this.length - 1]; };
    return 'ab'.last();
  }`;

const files = {
  'strict.ts': change,
  'sloppy.ts': `import sloppy from 'sloppy';\n${change}\nexport const kept = sloppy;`,
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
  t.notMatch(log(), /String\.prototype\.shout/);
  t.equal((await call('masked')).body.error, 'the real reason');
});
