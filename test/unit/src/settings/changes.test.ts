import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createChains } from '../../../../src/chains/registry.ts';
import { systemClock } from '../../../../src/domain/clock.ts';
import { compareConfigurations, needsRestart, type RunningFacts } from '../../../../src/settings/changes.ts';
import type { Configuration } from '../../../../src/settings/configuration.ts';
import { loadConfiguration } from '../../../../src/settings/load.ts';
import { createSignerKinds } from '../../../../src/signers/registry.ts';

const chains = createChains(systemClock);
const signerKinds = createSignerKinds();
const running: RunningFacts = { isOther: () => false, variablesOf: () => [] };
const env = { A: 'a', B: 'b', SECRET: 's'.repeat(32), OTHER: 'o'.repeat(32) };

/** A configuration file in which every list has an entry. */
const FILE = {
  relayers: [
    {
      id: 'r',
      name: 'R',
      network: 'here',
      network_type: 'evm',
      signer_id: 's',
      paused: false,
      notification_id: 'n',
      policies: { min_balance: 1 },
    },
  ],
  signers: [signer('s'), signer('s2')],
  notifications: [{ id: 'n', type: 'webhook', url: 'https://n.example' }],
  networks: [
    { network: 'here', type: 'evm', rpc_urls: ['https://h.example'], chain_id: 5 },
    { network: 'there', type: 'evm', rpc_urls: ['https://t.example'], chain_id: 6 },
  ],
  plugins: [{ id: 'p', path: 'p.ts', permissions: { env: ['A'] } }],
};

function signer(id: string) {
  return { id, type: 'local', config: { path: `${id}.json`, passphrase: { type: 'env', value: 'SECRET' } } };
}

type File = typeof FILE;
type Section = keyof File;

/** The same file with one entry changed. */
function withEntry(section: Section, change: object, index = 0): object {
  const entries = FILE[section].map((entry, at) => (at === index ? { ...entry, ...change } : entry));
  return { ...FILE, [section]: entries };
}

async function configurationOf(t: Test, file: object, variables: Record<string, string> = env): Promise<Configuration> {
  const cwd = t.testdir({ config: { 'config.json': JSON.stringify(file) } });
  return await loadConfiguration({ env: variables, cwd, chains, signerKinds });
}

async function changes(t: Test, now: object, told: Partial<RunningFacts> = {}, variables = env, was: object = FILE) {
  return compareConfigurations(await configurationOf(t, was), await configurationOf(t, now, variables), {
    ...running,
    ...told,
  });
}

/** For each field of an entry, a value that differs from the file. */
const OTHER_VALUES: Record<Section, Record<string, unknown>> = {
  relayers: {
    name: 'Anew',
    network: 'there',
    paused: true,
    signer_id: 's2',
    notification_id: undefined,
    custom_rpc_urls: ['https://c.example'],
    policies: { min_balance: 2 },
  },
  signers: { config: { path: 'new.json', passphrase: { type: 'env', value: 'SECRET' } } },
  notifications: {
    url: 'https://new.example',
    signing_key: { type: 'env', value: 'SECRET' },
  },
  networks: {
    ...{
      from: 'sepolia',
      rpc_urls: ['https://new.example'],
      chain_id: 7,
      required_confirmations: 3,
      max_transaction_gas: 16_777_216,
      private_rpc_urls: ['https://relay.example'],
      symbol: 'X',
    },
    features: ['eip1559'],
    average_blocktime_ms: 9,
    is_testnet: true,
    tags: ['no-mempool'],
    explorer_urls: ['https://e.example'],
    gas_price_cache: { enabled: true },
  },
  plugins: {
    path: 'q.ts',
    timeout: 9,
    emit_logs: true,
    emit_traces: true,
    emit_usage: true,
    forward_logs: true,
    raw_response: true,
    allow_get_invocation: true,
    config: { a: 1 },
    permissions: {},
    isolation: 'call',
    limits: { memory_mb: 64 },
    durable: true,
    triggers: [{ name: 'often', every: '15m' }],
  },
};

const page = readFileSync(join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'configuration.md'), 'utf8');

/**
 * What the documentation page says about each field of a section's entries: `live` or `restart`. Only its first table.
 */
function documented(section: Section): Map<string, string> {
  const [, text = ''] = page.split(`## \`${section}[]\``);
  const [own = ''] = text.split('\n## ');
  const rows = [...own.matchAll(/^\| `([^`.[]+)` \| .*? \| .*? \| (live|restart) \|/gm)];
  return new Map(rows.map(([, field = '', applied = '']) => [field, applied]));
}

for (const section of Object.keys(OTHER_VALUES) as Section[]) {
  t.test(`${section}: each field is applied, or waits, as docs/configuration.md says`, async (t) => {
    const said = documented(section);
    t.ok(said.size > 1);
    for (const [field, value] of Object.entries(OTHER_VALUES[section])) {
      const base = field === 'second_signing_key' ? withEntry(section, { signing_key: value }) : FILE;
      const { applied, waiting } = await changes(t, withEntry(section, { [field]: value }), {}, env, base);
      const [places, others] = said.get(field) === 'live' ? [applied, waiting] : [waiting, applied];
      t.strictSame(others, [], field);
      t.match(places, [section === 'networks' ? /^networks "here" \(evm\)/ : `${section}[0].${field}`], field);
      t.equal(needsRestart(section, field), said.get(field) === 'restart', field);
    }
  });
}

t.test('no field of the page is left out here', (t) => {
  const identity: Partial<Record<Section, string[]>> = {
    relayers: ['id', 'network_type'],
    notifications: ['id', 'type', 'second_signing_key'],
    networks: ['network', 'type', 'passphrase', 'horizon_url', 'fee_forwarder'],
    plugins: ['id'],
  };
  for (const section of ['relayers', 'notifications', 'networks', 'plugins'] as const) {
    const tried = [...Object.keys(OTHER_VALUES[section]), ...(identity[section] ?? [])];
    const fields = [...documented(section).keys()].filter((field) => section !== 'relayers' || !isPolicy(field));
    t.strictSame(fields.toSorted(), tried.toSorted(), section);
  }
  t.end();
});

/** Whether the field is a policy. Policies have tables of their own in the section about relayers. */
function isPolicy(field: string): boolean {
  const [, own = ''] = page.split('### `policies` of `evm`');
  return own.split('\n## ')[0]?.includes(`| \`${field}\` |`) === true;
}

t.test('nothing has changed', async (t) => {
  const same = await changes(t, FILE);
  t.match(same, { applied: [], waiting: [], undeclared: [], relayers: [], notifications: [] });
  t.equal(same.pluginIds.size, 0);
});

t.test('new entries are applied, but for signers, networks, and the relayers that wait for them', async (t) => {
  const relayer = { ...FILE.relayers[0], notification_id: 'n2' };
  const file = {
    ...FILE,
    relayers: [
      { ...relayer, id: 'live', signer_id: 's2' },
      ...FILE.relayers,
      { ...relayer, id: 'by-signer', signer_id: 's3' },
      { ...relayer, id: 'by-network', signer_id: 's2', network: 'new' },
    ],
    signers: [...FILE.signers, signer('s3')],
    notifications: [...FILE.notifications, { ...FILE.notifications[0], id: 'n2' }],
    networks: [...FILE.networks, { network: 'new', type: 'evm', rpc_urls: ['https://new.example'], chain_id: 9 }],
    plugins: [{ id: 'q', path: 'q.ts' }, ...FILE.plugins],
  };
  const { applied, waiting, configuration, ...made } = await changes(t, file);
  t.strictSame(applied, ['relayers[0]', 'notifications[1]', 'plugins[0]']);
  t.strictSame(waiting, ['relayers[2]', 'relayers[3]', 'signers[2]', 'networks "new" (evm)']);
  t.match(made, { relayers: [{ id: 'live' }], notifications: [{ id: 'n2' }], pluginIds: new Set(['q']) });
  t.strictSame(
    configuration.relayers.map(({ id }) => id),
    ['live', 'r'],
    'it goes by those that do not wait',
  );
  t.equal(configuration.signers.length, 2);
});

t.test('what is taken out: plugins go, what is stored stays, the rest waits', async (t) => {
  const { applied, waiting, undeclared, pluginIds } = await changes(t, {
    relayers: [],
    signers: [],
    notifications: [],
    plugins: [],
    networks: FILE.networks.slice(1),
  });
  t.strictSame(applied, ['plugins "p"']);
  t.strictSame(waiting, ['signers "s"', 'signers "s2"', 'networks "here" (evm)']);
  t.strictSame(undeclared, ['relayers "r"', 'notifications "n"']);
  t.strictSame([...pluginIds], ['p']);
});

t.test(
  'an entry whose network or signer changes waits as a whole, and the service goes by the one before',
  async (t) => {
    const { waiting, applied, configuration } = await changes(
      t,
      withEntry('relayers', { name: 'Anew', signer_id: 's2' }),
    );
    t.strictSame(waiting, ['relayers[0].name', 'relayers[0].signer_id']);
    t.strictSame(applied, []);
    t.match(configuration.relayers, [{ name: 'R', signerId: 's' }]);
  },
);

t.test('a new one that the API has made as another account waits', async (t) => {
  const isOther: RunningFacts['isOther'] = ({ id }) => id === 'r2';
  const file = { ...FILE, relayers: [...FILE.relayers, { ...FILE.relayers[0], id: 'r2', signer_id: 's2' }] };
  t.match(await changes(t, file, { isOther }), { applied: [], waiting: ['relayers[1]'] });
});

t.test('variables: what is made of them anew, and what waits', async (t) => {
  const file = withEntry('notifications', { signing_key: { type: 'env', value: 'OTHER' } });
  const variables = { ...env, A: 'new', B: 'new', OTHER: 'n'.repeat(32), LOG_LEVEL: 'debug' };
  const { applied, waiting } = await changes(t, file, {}, variables, file);
  t.strictSame(applied, ['notifications[0].signing_key', 'plugins[0].permissions.env']);
  t.strictSame(waiting, ['LOG_LEVEL']);
  const signers = await changes(t, FILE, {}, { ...env, SECRET: 'n'.repeat(32) });
  t.strictSame(signers.waiting, ['signers[0].config', 'signers[1].config']);
  const own = await changes(t, FILE, { variablesOf: () => ['B'] }, { ...env, B: 'new' });
  t.strictSame(own.waiting, ['signers[0].config', 'signers[1].config']);
});
