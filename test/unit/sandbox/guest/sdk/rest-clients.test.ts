import t from 'tap';
import { Configuration, PluginsApi, PluginsApiFp, RelayersApi } from '../../../../../sandbox/guest/sdk/rest-clients.ts';

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
