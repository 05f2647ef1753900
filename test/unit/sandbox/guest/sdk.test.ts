import t from 'tap';
import * as library from '../../../../sandbox/guest/modules/lib-plugin.ts';
import * as sdk from '../../../../sandbox/guest/modules/relayer-sdk.ts';
import { Configuration, PluginsApi, PluginsApiFp, RelayersApi } from '../../../../sandbox/guest/sdk/rest-clients.ts';
import { RUN_PLUGIN } from '../../../../sandbox/language-names.ts';

t.test('has all of the SDK, and runPlugin names the function to run while the module loads', (t) => {
  t.strictSame(Object.keys(library).sort(), [...Object.keys(sdk), 'runPlugin'].sort());
  t.throws(() => library.runPlugin('main' as never), /needs a function/);
  const main = () => 1;
  t.throws(() => library.runPlugin(main), /only while the module loads/);
  const world = globalThis as { [RUN_PLUGIN]?: unknown };
  world[RUN_PLUGIN] = undefined;
  t.teardown(() => delete world[RUN_PLUGIN]);
  library.runPlugin(main);
  t.equal(world[RUN_PLUGIN], main);
  t.end();
});

t.test('clients can be made, and say at the first use what there is instead', async (t) => {
  const client = new RelayersApi(new Configuration({ basePath: 'http://localhost:8080', accessToken: 'k' }));
  t.ok(client instanceof RelayersApi);
  await t.rejects(client.sendTransaction('id', {}), /^RelayersApi\.sendTransaction is not there.*api\.useRelayer/);
  await t.rejects(PluginsApiFp().callPlugin('id', {}), /PluginsApi\.callPlugin is not there/);
  t.strictSame([RelayersApi.name, PluginsApi.name], ['RelayersApi', 'PluginsApi']);
});

t.test('the settings are kept', (t) => {
  const settings = new Configuration({ basePath: 'x' });
  t.equal(settings['basePath'], 'x');
  for (const mime of ['application/json', 'application/json; charset=UTF8', 'APPLICATION/JSON', 'application/a+json']) {
    t.ok(settings.isJsonMime(mime), mime);
  }
  t.notOk(settings.isJsonMime('text/plain'));
  t.end();
});
