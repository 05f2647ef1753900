import { join, resolve } from 'node:path';
import t from 'tap';
import { createCompiler } from '../../../../../sandbox/host/compiler/compiler.ts';
import { exportedInstead } from '../../../../../sandbox/host/compiler/handler-export.ts';
import { PluginFolder } from '../../../../support/plugin-host.ts';

t.test('a bundle is told from one that exports a handler, in every form that an export may have', async (t) => {
  const folder = new PluginFolder({
    'lib/common.js': 'exports.handler = () => 1;',
    'lib/module.ts': 'export const handler = () => 1; export const other = 2;',
  });
  const compiler = createCompiler({
    root: folder.path,
    sandboxDir: resolve(import.meta.dirname, '../../../../../sandbox'),
  });
  t.teardown(async () => {
    await compiler.close();
    folder.remove();
  });
  const exported = async (source: string, name = 'p.ts') => {
    folder.write(name, source);
    const built = await compiler.compile('p', { file: join(folder.path, name), label: `plugins/${name}` });
    if ('status' in built) throw new Error(built.message);
    return exportedInstead(built.code);
  };
  for (const source of [
    'export const handler = () => 1;',
    'export async function handler(context) { return context; }',
    'const run = () => 1; export { run as handler };',
    `export { handler } from './lib/module.ts';`,
    `export * from './lib/module.ts';`,
    `export * from './lib/common.js';`,
    `import { handler } from './lib/common.js'; export { handler };`,
  ]) {
    t.equal(await exported(source), undefined, source);
  }
  t.equal(await exported('module.exports = { handler() {} };', 'p.js'), undefined);
  for (const [source, names] of [
    ['export default () => 1; export const handle = 1;', ['default', 'handle']],
    ['const handler = () => 1; export const other = handler;', ['other']],
    [`export { other } from './lib/module.ts';`, ['other']],
    ['console.log(1);', []],
  ] as const) {
    t.strictSame(await exported(source), names, source);
  }
});

t.test('what only running it can tell is let through', (t) => {
  t.equal(exportedInstead('var __isolayer_plugin__ = make("handler");'), undefined);
  t.strictSame(exportedInstead('var __isolayer_plugin__ = 1;'), []);
  t.end();
});
