import { join, resolve } from 'node:path';
import t from 'tap';
import { createCompiler } from '../../../../../src/plugin-host/compiler/compiler.ts';
import { lacksHandler } from '../../../../../src/plugin-host/compiler/handler-export.ts';
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
  const isPlugin = async (source: string, name = 'p.ts') => {
    folder.write(name, source);
    const built = await compiler.compile('p', { file: join(folder.path, name), label: `plugins/${name}` });
    if ('status' in built) throw new Error(built.message);
    return !lacksHandler(built.code);
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
    t.equal(await isPlugin(source), true, source);
  }
  t.equal(await isPlugin('module.exports = { handler() {} };', 'p.js'), true);
  for (const source of [
    'export default () => 1;',
    'const handler = () => 1; export const other = handler;',
    `export { other } from './lib/module.ts';`,
    'console.log(1);',
  ]) {
    t.equal(await isPlugin(source), false, source);
  }
});

t.test('what only running it can tell is let through', (t) => {
  t.equal(lacksHandler('var __isolayer_plugin__ = make("handler");'), false);
  t.equal(lacksHandler('var __isolayer_plugin__ = 1;'), true);
  t.end();
});
