import { Account, Asset, BASE_FEE, Keypair, Networks, Operation, TransactionBuilder } from '@stellar/stellar-sdk';
import type { PluginVersion } from '../../sandbox/contract.ts';
import { compilePlugins } from '../../src/cli/check-config.ts';
import { readPluginConfiguration } from '../../src/cli/settings.ts';
import type { Json } from '../../src/domain/json/json.ts';
import { pluginEntrySchema } from '../../src/features/plugins/records/plugin.ts';
import { SAMPLES } from '../load/bench/plugin-samples.ts';
import { PackageFolder } from './packages/package-oracle.ts';
import type { Answer } from './recorded-call.ts';

const OWN = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 7)).publicKey();
const ENV = { STELLAR_NETWORK: 'testnet', FUND_RELAYER_ID: 'known', PLUGIN_ADMIN_SECRET: 'admin-secret' };

/** Uses a chain library with everything that two runs could see differently. */
const MIXED = `
import { Wallet, keccak256 } from 'ethers';
export async function handler({ kv, api, params }) {
  const wallet = Wallet.createRandom();
  const started = Date.now();
  const race = await Promise.race([
    kv.get('a').then(() => 'value', () => 'refused'),
    new Promise((resolve) => setTimeout(() => resolve('timer'), params.i % 7)),
  ]);
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, pair.privateKey, new Uint8Array(params.i % 9));
  const relayer = api.useRelayer('known');
  const sent = await relayer.sendTransaction({ to: wallet.address, data: keccak256(new Uint8Array(signature)), race });
  const results = await Promise.allSettled([sent.wait(), relayer.rpc({ method: 'm', params: [Math.random()] }),
    kv.set('last', { at: Date.now(), id: crypto.randomUUID() }), fetch('https://a.example/' + params.i, { signal: AbortSignal.timeout(5) })]);
  console.log(results.map(({ status }) => status).join());
  return { address: wallet.address, signed: await wallet.signMessage('hi'), race, took: Date.now() - started };
}`;

const NETWORK = {
  network: 'stellar:testnet',
  type: 'stellar',
  relayer_id: 'known',
  assets: ['CDLZFC3SYJYDZT7K67VZ75HPJVIEUVNIXF47ZG2FB2RMQQVU2HHGCYSC'],
};

interface SampleCall {
  version: PluginVersion;
  params: Json;
  route?: string;
  config?: { [key: string]: Json };
}

/** The bench's plugins, published ones, and one that mixes everything, with many different calls of each. */
export async function openSamples(): Promise<{ call(i: number): SampleCall; close(): void }> {
  const codes = Object.fromEntries(SAMPLES.map(({ name, code }) => [name, code]));
  const files = {
    ...codes,
    x402: "export { handler } from '@openzeppelin/relayer-plugin-x402-facilitator';",
    mixed: MIXED,
  };
  const folder = new PackageFolder(Object.fromEntries(Object.entries(files).map(([id, code]) => [`${id}.ts`, code])));
  const permissions = { relayers: { known: ['read', 'send', 'sign', 'rpc'] }, env: Object.keys(ENV), kv: true };
  const limits = { slice_ms: 20_000, cpu_ms: 60_000 };
  const plugins = Object.keys(files).map((id) =>
    pluginEntrySchema.parse({ id, path: `${id}.ts`, permissions, limits }),
  );
  const env = { ...ENV, PLUGINS_DIR: folder.plugins };
  const settings = await readPluginConfiguration({ env, cwd: folder.plugins });
  const built = await compilePlugins(folder.plugins, { ...settings, variables: env, plugins });
  const versions = new Map(built.map(({ entry, serving }) => [entry.id, serving?.version]));
  const manage = (action: string, more: object = {}) => ({
    params: { management: { adminSecret: ENV.PLUGIN_ADMIN_SECRET, action, ...more } } as Json,
  });
  const forms: ((i: number) => { id: string; params?: Json; route?: string; config?: { [key: string]: Json } })[] = [
    (i) => ({ id: 'hello', params: { name: `n${i}` } }),
    (i) => ({ id: 'ethers', params: { amount: `${i}.5` } }),
    (i) => ({ id: 'viem', params: { amount: `${i}.25` } }),
    () => ({ id: 'stellar-sdk' }),
    (i) => ({ id: 'mixed', params: { i } }),
    () => ({ id: 'channels', ...manage('listChannelAccounts') }),
    (i) => ({ id: 'channels', ...manage('setFeeLimit', { apiKey: `k${i}`, limit: i + 1 }) }),
    (i) => ({ id: 'channels', params: { xdr: payment(i), ...(i % 2 === 0 ? { skipWait: true } : {}) } }),
    (i) => ({ id: 'mixed', params: { i } }),
    (i) => ({ id: 'x402', route: ['/supported', '/verify', '/settle'][i % 3] ?? '', config: { networks: [NETWORK] } }),
  ];
  return {
    call(i) {
      const {
        id,
        params = {},
        ...more
      } = (forms[i % forms.length] as (typeof forms)[number])(Math.floor(i / forms.length));
      const version = versions.get(id);
      if (version === undefined) throw new Error(`${id} was not built`);
      return { version, params, ...more };
    },
    close: () => folder.remove(),
  };
}

/** A payment that somebody has signed. */
function payment(sequence: number): string {
  const key = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 9));
  const tx = new TransactionBuilder(new Account(key.publicKey(), `${sequence}`), {
    fee: BASE_FEE,
    networkPassphrase: Networks.TESTNET,
  })
    .addOperation(Operation.payment({ destination: OWN, asset: Asset.native(), amount: '1' }))
    .setTimeout(30)
    .build();
  tx.sign(key);
  return tx.toXDR();
}

/** A service whose answers come in another order in each run. */
export function sampleAnswers(): Answer {
  const values = new Map<string, string>();
  let fence = 0;
  const value = (method: string, given: Record<string, Json>): Json | undefined => {
    const key = String(given['key']);
    switch (method) {
      case 'kv.get':
        return values.get(key) ?? null;
      case 'kv.set':
        values.set(key, String(given['value']));
        return true;
      case 'kv.exists':
        return values.has(key);
      case 'kv.del':
        return values.delete(key);
      case 'kv.listKeys':
        return [...values.keys()].filter((one) => one.startsWith(String(given['prefix'])));
      case 'kv.lock':
        return ++fence;
      case 'kv.unlock':
        return true;
      case 'relayer.getRelayer':
        return { id: 'known', name: 'known', address: OWN, network: 'testnet', network_type: 'stellar', paused: false };
      case 'relayer.getRelayerStatus':
        return { network_type: 'stellar', sequence_number: '1', balance: '1', paused: false };
      case 'relayer.sendTransaction':
      case 'relayer.getTransaction':
        return { id: 'tx-1', relayer_id: 'known', status: 'pending', hash: null };
      case 'relayer.waitTransaction':
        return { id: 'tx-1', relayer_id: 'known', status: 'confirmed', hash: 'aa' };
      case 'relayer.rpc':
        return { jsonrpc: '2.0', id: 1, error: { code: -1, message: 'm', description: 'no chain' } };
      default:
        return undefined;
    }
  };
  return ({ method, params }) => {
    const answer = value(method, params as Record<string, Json>);
    return answer === undefined
      ? { refused: `nobody answers ${method}` }
      : { value: answer, afterMs: Math.floor(Math.random() * 8) };
  };
}
