import { readFileSync } from 'node:fs';
import t from 'tap';
import { exportsOf, SDK_NAMES, sdkText } from '../../../../test/client/sdk-text.ts';
import * as library from '../../../guest/modules/lib-plugin.ts';
import * as sdk from '../../../guest/modules/relayer-sdk.ts';
import { PluginsApi, PluginsApiFp, RelayersApi } from '../../../guest/sdk/names.ts';
import { Configuration } from '../../../guest/sdk/rest-clients.ts';
import { RUN_PLUGIN } from '../../../language-names.ts';

t.test('has all of the SDK, and runPlugin names the function to run while the module loads', (t) => {
  t.strictSame(Object.keys(library).sort(), [...Object.keys(sdk), 'runPlugin'].sort());
  t.throws(() => library.runPlugin('main' as never), /needs a function/);
  const main = () => 1;
  t.throws(() => library.runPlugin(main), /only while the module loads/);
  const globals = globalThis as { [RUN_PLUGIN]?: unknown };
  globals[RUN_PLUGIN] = undefined;
  t.teardown(() => delete globals[RUN_PLUGIN]);
  library.runPlugin(main);
  t.equal(globals[RUN_PLUGIN], main);
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

t.test('relayer sdk', async (t) => {
  t.test('has the error helper and the enums', (t) => {
    const error = sdk.pluginError('m', { code: 'C', status: 422, details: { a: 1 } });
    t.ok(error instanceof sdk.PluginError);
    t.ok(error instanceof Error);
    t.match(error, { name: 'PluginError', message: 'm', code: 'C', status: 422, details: { a: 1 } });
    t.strictSame(Object.keys(sdk.pluginError('m')), ['code', 'status', 'details']);

    t.strictSame(Object.values(sdk.Speed), ['fastest', 'fast', 'average', 'safeLow']);
    t.equal(sdk.Speed.SAFE_LOW, 'safeLow');
    t.strictSame(Object.values(sdk.TransactionStatus).sort(), [
      'canceled',
      'confirmed',
      'expired',
      'failed',
      'mined',
      'pending',
      'sent',
      'submitted',
    ]);
    t.strictSame(Object.values(sdk.RelayerNetworkType), ['evm', 'solana', 'stellar']);
    for (const frozen of [sdk.Speed, sdk.TransactionStatus, sdk.RelayerNetworkType, sdk.LogLevel, sdk.SignerType]) {
      t.ok(Object.isFrozen(frozen));
    }
    t.end();
  });

  /** Its names and values are facts; an AGPL package may be imported by tests only. */
  const original = (await import('@openzeppelin/relayer-sdk')) as unknown as Record<string, unknown>;

  t.test('everything of the public SDK is there, with the same values', (t) => {
    const names = Object.keys(original['default'] ?? original).filter((name) => name !== '__esModule');
    t.equal(names.length, 78);
    const own = sdk as unknown as Record<string, unknown>;
    for (const name of names) {
      if (typeof original[name] === 'object') t.strictSame({ ...(own[name] as object) }, original[name], name);
      else t.equal(typeof own[name], typeof original[name], name);
    }
    t.strictSame(Object.keys(sdk).sort(), names.sort());
    for (const name of names.filter((name) => /^[A-Z]\w+Api$/.test(name))) {
      t.strictSame(methodsOf(sdk, name), methodsOf(original, name), name);
    }
    t.end();
  });

  function methodsOf(module: object, name: string): string[] {
    const { prototype } = (module as Record<string, { prototype: object }>)[name] ?? { prototype: {} };
    return Object.getOwnPropertyNames(prototype).sort();
  }

  t.test('so are its types, and what is generated is up to date: npm run client', async (t) => {
    const own = new Set(exportsOf('sandbox/guest/modules/relayer-sdk.ts').map(({ name }) => name));
    const theirs = exportsOf('node_modules/@openzeppelin/relayer-sdk/dist/index.d.ts').map(({ name }) => name);
    t.ok(theirs.length > 300);
    t.strictSame(
      theirs.filter((name) => !own.has(name)),
      [],
    );
    t.equal(readFileSync(SDK_NAMES, 'utf8'), await sdkText());
  });
});
