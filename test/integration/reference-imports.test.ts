/** Plugins that were written for the reference find the modules that they import from it. */
import t from 'tap';
import { startPluginHost } from '../support/plugin-host.ts';

const files = {
  'all.ts': `
    import * as sdk from '@openzeppelin/relayer-sdk';
    import { RelayersApi, Configuration } from '@openzeppelin/relayer-sdk';
    import { Speed } from '@openzeppelin/relayer-sdk/dist/models/speed';
    import { pluginError } from 'isolayer';
    const client = new RelayersApi(new Configuration({ accessToken: 'k' }));
    export const handler = async () => ({
      count: Object.keys(sdk).length,
      isOne: pluginError === sdk.pluginError && Speed === sdk.Speed,
      client: await client.getRelayer('r').catch((error: Error) => error.message),
    });`,
  'examples/kv-storage/index.ts': `
    import { PluginContext } from '../../lib/plugin';
    export async function handler({ kv }: PluginContext) { await kv.set('a', 1); return kv.get('a'); }`,
  'below.ts': `
    import { pluginError } from '../lib/plugin';
    export function handler() { throw pluginError('no', { status: 418 }); }`,
  'old.ts': `
    import { PluginAPI, runPlugin } from '../lib/plugin';
    async function example(api: PluginAPI, params: { relayer: string }) {
      return (await api.useRelayer(params.relayer).getRelayer()).id;
    }
    runPlugin(example);`,
  'both.ts': `
    import { runPlugin } from '../lib/plugin';
    runPlugin(() => 'the old form');
    export const handler = () => 'the handler';`,
  'late.ts': `
    import { runPlugin } from '../lib/plugin';
    export const handler = () => runPlugin(() => 1);`,
};

t.test('what plugins import of the reference is there', async (t) => {
  const entries = [{ id: 'kv-storage', path: 'examples/kv-storage/index.ts' }];
  const { call, close } = await startPluginHost({ files, entries });
  t.teardown(close);
  const client = /^RelayersApi\.getRelayer is not there in a plugin.*api\.useRelayer\(id\)$/;
  t.match((await call('all')).body.data, { count: 78, isOne: true, client });
  t.equal((await call('kv-storage')).body.data, 1);
  t.match(await call('below'), { status: 418, body: { error: 'no' } });
  t.match((await call('late')).body.error, /only while the module loads/);
  t.equal((await call('both')).body.data, 'the handler');
});

t.test('runPlugin(main) runs, and says that it is the old form', async (t) => {
  const { call, close, log, host } = await startPluginHost({ files, entries: [{ id: 'old', emit_logs: true }] });
  t.teardown(close);
  for (let calls = 0; calls < 2; calls += 1) {
    const { body } = await call('old', { relayer: 'known' });
    t.match(body, { data: 'known', metadata: { logs: [{ level: 'warn', message: /export main as `handler`/ }] } });
  }
  t.match(await call('old', { relayer: 'unknown' }), { status: 500, body: { error: /unknown/ } });
  t.match(await host.get('old'), { state: 'serving' });
  const warned = log()
    .split('\n')
    .filter((line) => line.includes('a plugin has the old form'));
  t.match(
    warned.map((line) => JSON.parse(line)),
    [{ pluginId: 'old' }],
  );
  t.equal(warned.length, 1, 'only for one that exports no handler');
});

t.test('the reference’s folder as it is: its library, its tests and its settings beside the plugins', async (t) => {
  const { call, close, host } = await startPluginHost({
    files: {
      // What the reference's library begins with. It does not run here.
      'lib/plugin.ts': `import net from 'node:net'; import Redis from 'ioredis';
        export interface PluginAPI {}
        export async function runPlugin(main: Function) { return net.connect(new Redis(main)); }`,
      'lib/kv.ts': `import Redis from 'ioredis'; export class Store extends Redis {}`,
      'jest.config.js': 'module.exports = { preset: "ts-jest" };',
      'tests/lib/plugin.test.ts': `import { runPlugin } from '../../lib/plugin'; test('x', () => {});`,
      'tests/index.ts': 'export const nothing = 1;',
      'examples/example-deprecated.ts': `import { PluginAPI, runPlugin } from '../lib/plugin';
        runPlugin(async (api: PluginAPI) => 'done');`,
      'example.ts': `import { pluginError } from './lib/plugin'; export const handler = () => typeof pluginError;`,
      'mine/lib/plugin.ts': `export const mine = 'mine';`,
      'mine/index.ts': `import { mine } from './lib/plugin.ts'; export const handler = () => mine;`,
    },
    entries: [{ id: 'deprecated', path: 'examples/example-deprecated.ts' }],
  });
  t.teardown(close);
  t.equal((await call('deprecated')).body.data, 'done');
  t.equal((await call('example')).body.data, 'function');
  t.equal((await call('mine')).body.data, 'mine', 'an author’s own library');
  t.strictSame(
    host.status().plugins.map(({ id, state }) => [id, state]),
    [
      ['deprecated', 'serving'],
      ['example', 'serving'],
      ['mine', 'serving'],
    ],
  );
});

t.test('no call leaves anything on the SDK or on a namespace for the next', async (t) => {
  const places = [
    'sdk',
    'sdk.pluginError',
    'sdk.PluginError',
    'sdk.PluginError.prototype',
    'sdk.Configuration',
    'sdk.Configuration.prototype',
    'sdk.RelayersApi',
    'sdk.RelayersApi.prototype',
    'sdk.RelayersApiFactory',
    'sdk.Speed',
    'library',
    'library.runPlugin',
    'util',
    'crypto',
    'common',
  ];
  const { call, close } = await startPluginHost({
    files: {
      '_common.js': 'exports.value = 1;',
      'leaks.ts': `import * as sdk from '@openzeppelin/relayer-sdk'; import * as library from '../lib/plugin';
        import * as util from 'node:util'; import * as crypto from 'node:crypto'; import * as common from './_common.js';
        let calls = 0;
        const places = { ${places.map((place) => `'${place}': ${place}`).join(', ')} };
        export function handler({ params }) {
          calls += 1;
          const seen = Object.entries(places).filter(([, object]) => 'leak' in object).map(([place]) => place);
          if (params.leak) for (const object of Object.values(places)) { try { object.leak = 'secret'; } catch {} }
          return { calls, seen };
        }`,
    },
    entries: [{ id: 'leaks' }],
  });
  t.teardown(close);
  t.match((await call('leaks', { leak: true })).body.data, { calls: 1 });
  t.strictSame((await call('leaks')).body.data, { calls: 2, seen: [] }, 'the same isolate, and nothing in it');
});
