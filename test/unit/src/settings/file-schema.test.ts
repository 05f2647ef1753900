import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { createChains } from '../../../../src/chains/registry.ts';
import { systemClock } from '../../../../src/domain/clock.ts';
import type { JsonObject } from '../../../../src/domain/json/json.ts';
import { configurationSchema, networkFileSchema } from '../../../../src/settings/file-schema.ts';
import { createSignerKinds } from '../../../../src/signers/registry.ts';

const chains = createChains(systemClock);
const config = configurationSchema(chains, createSignerKinds());
const networks = networkFileSchema(chains);

const shipped = (name: string): JsonObject =>
  JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', '..', '..', 'config', name), 'utf8'));

function faultsOf(schema: JsonObject, value: unknown): string[] {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  const validate = ajv.compile(schema);
  validate(value);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

t.test('the shipped files are what `npm run isolayer -- schema` writes', (t) => {
  t.strictSame(shipped('schema.json'), config, 'config/schema.json is out of date');
  t.strictSame(shipped('networks.schema.json'), networks, 'config/networks.schema.json is out of date');
  t.end();
});

t.test('the shipped configuration names the schema and satisfies it', (t) => {
  const file = shipped('config.example.json');
  t.equal(file['$schema'], './schema.json');
  t.strictSame(faultsOf(config, file), []);
  t.end();
});

const relayer = {
  id: 'r1',
  name: 'One',
  network: 'sepolia',
  network_type: 'evm',
  paused: false,
  signer_id: 's1',
  policies: { min_balance: 1, gas_price_cap: '100000000000000000000' },
  custom_rpc_urls: ['https://a.test', { url: 'https://b.test', weight: 5 }],
};
const signer = { id: 's1', type: 'local', config: { path: 'k.json', passphrase: { type: 'env', value: 'P' } } };

t.test('an operator’s file is valid; slips are found where they are', (t) => {
  const file = {
    relayers: [relayer, { ...relayer, network_type: 'solana', policies: { fee_payment_strategy: 'user' } }],
    signers: [signer],
    notifications: [{ id: 'n', type: 'webhook', url: 'https://a.test', signing_key: { type: 'env', value: 'K' } }],
    networks: './networks',
    plugins: [
      { id: 'p', path: 'p.ts', permissions: { env: ['X'] }, limits: { cpu_ms: 50 }, config: { any: [1, {}] } },
      {
        id: 'q',
        path: 'q.ts',
        permissions: { relayers: { a: ['read'], b: { methods: ['send'], fee_per_hour: '1' } } },
      },
    ],
  };
  t.strictSame(faultsOf(config, file), []);
  for (const [slip, place] of [
    [{ plugins: [{ id: 'p', path: 'p.ts', timeuot: 3 }] }, '/plugins/0 must NOT have additional properties'],
    [{ plugins: [{ id: 'p', path: 'p.ts', limits: { cpu_ms: 'long' } }] }, '/plugins/0/limits/cpu_ms must be integer'],
    [{ relayers: [{ ...relayer, policies: { gas_price_cpa: 1 } }] }, '/relayers/0/policies must NOT have'],
    [{ signers: [{ ...signer, config: {} }] }, "/signers/0/config must have required property 'path'"],
    [
      {
        plugins: [{ id: 'p', path: 'p.ts', permissions: { relayers: { r: { methods: ['send'], fee_per_huor: 1 } } } }],
      },
      '/plugins/0/permissions/relayers/r must NOT have additional properties',
    ],
    [{ relayer: [] }, ' must NOT have additional properties'],
  ] as const) {
    const faults = faultsOf(config, { ...file, ...slip });
    t.ok(
      faults.some((fault) => fault.startsWith(place)),
      `${place}: ${faults.join('; ')}`,
    );
  }
  t.end();
});

t.test('networks in both forms, and what each family adds', (t) => {
  for (const file of [
    { network: 'mine', rpc_urls: ['https://a.test'] },
    { network: 'mine', rpc_urls: [{ url: 'https://a.test' }], chain_id: 7, features: ['eip1559'] },
    {
      $schema: '../networks.schema.json',
      networks: [{ type: 'stellar', network: 'x', from: 'testnet', passphrase: 'p' }],
    },
  ]) {
    t.strictSame(faultsOf(networks, file), []);
  }
  t.not(faultsOf(networks, { network: 'mine', rpc_url: 'https://a.test' }).length, 0);
  t.strictSame(
    [...chains.values()].flatMap(({ builtInNetworks }) => faultsOf(networks, { networks: builtInNetworks })),
    [],
    'every built-in network is one',
  );
  t.end();
});

t.test('what an editor shows has descriptions', (t) => {
  const { Plugin } = config['$defs'] as Record<string, { properties: Record<string, { description?: string }> }>;
  t.match(Plugin?.properties['timeout']?.description, 'seconds');
  t.end();
});
