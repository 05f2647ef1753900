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
    async function example(api: PluginAPI) { return 'done'; }
    runPlugin(example);`,
};

t.test('what plugins import of the reference is there', async (t) => {
  const entries = [{ id: 'kv-storage', path: 'examples/kv-storage/index.ts' }];
  const { call, close } = await startPluginHost({ files, entries });
  t.teardown(close);
  const client = /^RelayersApi\.getRelayer is not there in a plugin.*api\.useRelayer\(id\)$/;
  t.match((await call('all')).body.data, { count: 78, isOne: true, client });
  t.equal((await call('kv-storage')).body.data, 1);
  t.match(await call('below'), { status: 418, body: { error: 'no' } });
  t.match((await call('old')).body.error, /handler/);
  t.comment((await call('old')).text);
});
