import t, { type Test } from 'tap';
import { Teardown } from '../../../../../src/app/teardown.ts';
import { createChains } from '../../../../../src/chains/registry.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { type PluginEntry, pluginEntrySchema } from '../../../../../src/features/plugins/records/plugin.ts';
import { createLog } from '../../../../../src/observability/log.ts';
import type { Configuration, RelayerEntry } from '../../../../../src/settings/configuration.ts';
import { ConfigurationError } from '../../../../../src/settings/problems.ts';
import { LiveSettings } from '../../../../../src/settings/reconcile/live-settings.ts';
import { openSettings, type SettingsParts } from '../../../../../src/settings/reconcile/open-settings.ts';
import { rawKeySignerKind } from '../../../../../src/signers/raw-key.ts';
import type { SignerKinds } from '../../../../../src/signers/registry.ts';
import { signerTools } from '../../../../support/signer-tools.ts';
import { storeFor } from '../../../../support/store.ts';

t.test('open settings', async (t) => {
  const KEY = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
  const kinds: SignerKinds = new Map([['plain', rawKeySignerKind]]);

  t.test('what the configuration declares is stored, with the addresses of its signers', async (t) => {
    const store = await storeFor(t);
    const opened = new Teardown();
    t.teardown(() => opened.close());
    const relayer: RelayerEntry = {
      id: 'r1',
      name: 'r1',
      network: 'n',
      networkType: 'evm',
      paused: false,
      signerId: 'k1',
      policies: {},
      notificationId: 'hook',
      customRpcUrls: null,
      declaration: {},
    };
    const parts: SettingsParts = {
      configuration: {
        environment: { RESET_STORAGE_ON_START: false } as SettingsParts['configuration']['environment'],
        relayers: [relayer],
        signers: [{ id: 'k1', type: 'plain', config: { key: { type: 'plain', value: KEY } } }],
        notifications: [{ id: 'hook', type: 'webhook', url: 'https://hooks.example' }],
        plugins: [],
        networks: [{ type: 'evm', name: 'n', rpcUrls: [], settings: {}, isBuiltIn: false }],
      },
      chains: createChains(systemClock),
      signerKinds: kinds,
      signerTools: signerTools(KEY),
      clientHttp: signerTools().http,
      store,
      log: createLog('silent'),
    };
    const { networks, signers, feed } = await openSettings(parts, (name, close) => opened.defer(name, close));
    t.match(await store.read.relayer('r1'), { address: /^0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266$/i });
    t.ok(await store.read.notification('hook'));
    t.equal((await signers.signer('k1')).id, 'k1');
    t.ok(networks.find('evm', 'n'));
    await store.write((writer) =>
      writer.putNetwork({ type: 'evm', name: 'new', rpcUrls: [], settings: {}, declaration: null }),
    );
    await feed.changed('network');
    t.ok(networks.find('evm', 'new'));
    t.match(await store.read.allSigners(), []);
    await t.rejects(
      openSettings({ ...parts, chains: new Map() }, (name, close) => opened.defer(name, close)),
      {
        message: 'Relayer r1: no chain family evm',
      },
    );
  });
});

t.test('live settings', async (t) => {
  const KEY = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80';
  const chains = createChains(systemClock);
  const signerKinds: SignerKinds = new Map([['plain', rawKeySignerKind]]);

  function relayer(fields: Partial<RelayerEntry> & { id: string }): RelayerEntry {
    const entry = {
      name: fields.id,
      network: 'n',
      networkType: 'evm' as const,
      paused: false,
      signerId: 'k1',
      policies: {},
      notificationId: null,
      customRpcUrls: null,
      ...fields,
    };
    const { name, paused, policies, customRpcUrls, signerId, network, notificationId } = entry;
    const urls = customRpcUrls === null ? {} : { custom_rpc_urls: customRpcUrls.map(({ url }) => url) };
    const declaration = { name, paused, policies, network, signer_id: signerId, notification_id: notificationId };
    return { ...entry, declaration: { ...declaration, ...urls } };
  }

  const CONFIGURATION = {
    environment: { RESET_STORAGE_ON_START: false } as Configuration['environment'],
    variables: { HOOK: 'h'.repeat(32) } as Record<string, string>,
    relayers: [relayer({ id: 'r1' })],
    signers: [{ id: 'k1', type: 'plain', config: { key: { type: 'plain', value: KEY } } }],
    notifications: [] as Configuration['notifications'],
    networks: [{ type: 'evm' as const, name: 'n', rpcUrls: [], settings: {}, isBuiltIn: false }],
    plugins: [] as PluginEntry[],
    warnings: [] as string[],
  } satisfies Configuration;

  async function opened(t: Test) {
    const store = await storeFor(t);
    const teardown = new Teardown();
    t.teardown(() => teardown.close());
    const lines: string[] = [];
    const log = createLog('info', { write: (line) => lines.push(line) });
    const parts = { configuration: CONFIGURATION, chains, signerKinds, signerTools: signerTools(KEY), store, log };
    const settings = await openSettings({ ...parts, clientHttp: signerTools().http }, (name, close) =>
      teardown.defer(name, close),
    );
    const seen = {
      rechecked: [] as string[],
      declared: [] as string[],
      plugins: [] as string[][],
      waiting: [] as string[],
    };
    const files: { now: Configuration | Error } = { now: CONFIGURATION };
    const live = new LiveSettings(CONFIGURATION);
    const signer = { isSilent: false };
    const signers = Object.assign(Object.create(settings.signers), {
      signer: async (id: string) =>
        signer.isSilent ? Promise.reject(new Error('sealed')) : settings.signers.signer(id),
    });
    live.attach({
      chains,
      signerKinds,
      store,
      settings: { ...settings, signers },
      log,
      async read() {
        if (files.now instanceof Error) throw files.now;
        return files.now;
      },
      waiting: { add: (waiting) => seen.waiting.push(...waiting.map(({ id }) => id)) },
      engine: { recheck: (id) => seen.rechecked.push(id) },
      rpcHttp: { declare: (urls) => seen.declared.splice(0, Infinity, ...urls.map(({ url }) => url)) },
      pluginHost: {
        async declare(entries, changed) {
          seen.plugins.push([entries.map(({ id }) => id).join(), [...changed].join()]);
        },
      },
    });
    const say = async (change: Partial<Configuration> | Error) => {
      lines.length = 0;
      files.now = change instanceof Error ? change : { ...CONFIGURATION, ...change };
      await live.refresh();
      return lines.join('');
    };
    return { store, live, seen, say, lines, signer };
  }

  t.test('before it has what changes are handed to, there are none', async (t) => {
    const live = new LiveSettings(CONFIGURATION);
    await live.refresh();
    t.equal(live.variable('HOOK'), CONFIGURATION.variables['HOOK']);
  });

  t.test('what can change does, and what refers to it comes after it', async (t) => {
    const { store, live, seen, say } = await opened(t);
    const urls = [{ url: 'https://own.example', weight: 100 }];
    const said = await say({
      variables: { HOOK: 'n'.repeat(32), MORE: 'more' },
      relayers: [
        relayer({ id: 'r1', policies: { min_balance: '5' }, customRpcUrls: urls, notificationId: 'hook' }),
        relayer({ id: 'r2' }),
      ],
      notifications: [
        { id: 'hook', type: 'webhook', url: 'https://hooks.example', signing_key: { type: 'env', value: 'HOOK' } },
      ],
      plugins: [pluginEntrySchema.parse({ id: 'p', path: 'p.ts' })],
      warnings: ['a new warning'],
    });
    t.match(await store.read.relayer('r1'), { policies: { min_balance: '5' }, notificationId: 'hook' });
    t.match(await store.read.relayer('r2'), { address: /^0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266$/i });
    t.strictSame(
      (await store.read.signingKeys('hook')).map((key) => key.export().toString()),
      ['n'.repeat(32)],
    );
    t.equal(live.variable('MORE'), 'more');
    t.strictSame(seen, {
      rechecked: ['r1', 'r2'],
      declared: ['https://own.example'],
      plugins: [['p', 'p']],
      waiting: [],
    });
    t.match(said, /"warning":"a new warning"/);
    t.match(said, /"relayers\[1\]","notifications\[0\]","plugins\[0\]"\],"msg":"the changed configuration is applied"/);
    t.match(await say({}), /"places":\["relayers \\"r2\\"","notifications \\"hook\\""\].*stays as it is stored/);
    t.ok(await store.read.relayer('r2'));
    t.match(await say({}), /were saved without a change/);
  });

  t.test('a new relayer whose signer does not tell its key is waiting, and holds nothing else up', async (t) => {
    const { store, seen, say, signer } = await opened(t);
    signer.isSilent = true;
    await say({ relayers: [relayer({ id: 'r1', name: 'Anew' }), relayer({ id: 'r2' })] });
    t.match(await store.read.relayer('r1'), { name: 'Anew', address: /^0xf39f/i });
    t.match([await store.read.relayer('r2'), seen.waiting], [undefined, ['r2']]);
  });

  t.test('what cannot change is told of with its place, and nothing of it is done', async (t) => {
    const { store, say } = await opened(t);
    const said = await say({
      relayers: [relayer({ id: 'r1', signerId: 'k2' })],
      signers: [...CONFIGURATION.signers, { id: 'k2', type: 'plain', config: {} }],
    });
    t.match(
      said,
      /"places":\["relayers\[0\]\.signer_id","signers\[1\]"\],"msg":"a change of the configuration needs a restart"/,
    );
    t.match(await store.read.relayer('r1'), { signerId: 'k1' });
  });

  t.test('a relayer that the API has made on another network waits', async (t) => {
    const { store, say } = await opened(t);
    const stored = await store.read.relayer('r1');
    if (stored === undefined) throw new Error('it was declared');
    await store.write((writer) => writer.putRelayer({ ...stored, id: 'r3', network: 'm', declaration: null }));
    t.match(
      await say({ relayers: [...CONFIGURATION.relayers, relayer({ id: 'r3' })] }),
      /"relayers\[1\]".*needs a restart/,
    );
    t.match(await store.read.relayer('r3'), { network: 'm' });
  });

  t.test('files that cannot be used change nothing, and all that is wrong is said', async (t) => {
    const { say, lines } = await opened(t);
    const problem = (path: string) => ({ file: 'config.json', path, message: 'is wrong' });
    const said = await say(new ConfigurationError([problem('relayers[0].id'), problem('plugins[0].path')]));
    t.match(
      said,
      /"problems":\["config\.json: relayers\[0\]\.id: is wrong","config\.json: plugins\[0\]\.path: is wrong"\]/,
    );
    t.match(said, /"level":"error".*nothing of it is applied/);
    t.equal(lines.length, 1);
  });

  t.test('what kept it from being applied is said once, and it can be tried again', async (t) => {
    const { say, lines } = await opened(t);
    await t.rejects(say(new Error('the disk is gone')), /disk/);
    t.match(lines.join(''), /the disk is gone.*was not applied/);
    await t.rejects(say(new Error('the disk is gone')), /disk/);
    t.strictSame(lines, []);
    t.match(await say({ relayers: [relayer({ id: 'r1', name: 'Anew' })] }), /"relayers\[0\]\.name"/);
  });
});
