/** The reference page of the context matches the types for plugin authors, member by member. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { contextPage } from '../support/pages/context-page.ts';
import { holdPage } from '../support/pages/held-page.ts';
import { ROOT } from '../support/sandbox.ts';

const read = (name: string) => readFileSync(join(ROOT, 'sandbox', 'guest', name), 'utf8');
/** The web types that the page shows. It leaves out the other ones, which standards describe. */
const WEB = ['fetch', 'RequestInit', 'Response', 'Body'];

t.test('the page is that of the types, and says something of each member', (t) => {
  const api = read('plugin-api.ts');
  const sdk = read('modules/relayer-sdk.ts');
  const own = [...api.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name = '']) => name);
  const texts = [api, sdk, read('types/web.d.ts')];
  const isShown = (name: string) => [...own, ...WEB, 'pluginError'].includes(name);
  const { page, undescribed, names } = contextPage(texts, isShown);
  t.strictSame(undescribed, []);
  t.strictSame(
    own.filter((name) => !names.includes(name)),
    [],
    'nothing of the types is left out',
  );
  holdPage(t, 'plugin-context.md', page);
  t.end();
});

t.test('a member without a word is found', (t) => {
  const types = `/** Said. */
    export interface PluginContext {
      /** Said. */
      api: API;
      params: any;
    }
    export interface API {
      /** Said too. */
      get(
        key: string | null,
      ): Promise<void>;
    }`;
  const { page, undescribed } = contextPage([types]);
  t.strictSame(undescribed, ['PluginContext: params: any', 'API']);
  t.match(page, '| `get(key: string \\| null): Promise<void>` | Said too. |');
  t.end();
});
