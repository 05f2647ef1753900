import { resolve } from 'node:path';
import t from 'tap';
import { compiledPlugins } from '../../../../src/cli/compiled-plugins.ts';
import { environmentOf } from '../../../../src/cli/settings.ts';

t.test('each plugin of the folder is compiled, or says why not', async (t) => {
  const cwd = t.testdir({
    plugins: { 'a.ts': 'export const handler = () => 1;', 'b.ts': 'export const handler = (;' },
  });
  const environment = await environmentOf({ env: {}, cwd });
  const [a, b] = await compiledPlugins(resolve(cwd), { environment, variables: {}, plugins: [] });
  t.match(a, { entry: { id: 'a' }, failure: undefined, serving: { version: { pluginId: 'a' } } });
  t.match(b, { entry: { id: 'b' }, failure: { code: 'COMPILE_ERROR' } });
});
