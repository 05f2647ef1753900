import type { Test } from 'tap';
import { z } from 'zod';
import type { JsonObject } from '../../src/domain/json/json.ts';
import type { NetworkType } from '../../src/domain/network-type.ts';
import type {
  Configuration,
  KnownChains,
  KnownSignerKind,
  KnownSignerKinds,
} from '../../src/settings/configuration.ts';
import { loadConfiguration } from '../../src/settings/load.ts';
import { ConfigurationError, problemText } from '../../src/settings/problems.ts';

const parsedByChain = z.strictObject({
  chain_id: z.int().optional(),
  symbol: z.string().optional(),
  features: z.array(z.string()).optional(),
  tags: z.array(z.string()).optional(),
  passphrase: z.string().optional(),
});
const asJson = (value: object): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject;

function chain(type: NetworkType, curve: string, builtInNetworks: JsonObject[]) {
  return {
    type,
    curve,
    policySchema: z.strictObject({ gas_price_cap: z.union([z.int(), z.string()]).optional() }).transform(asJson),
    networkSchema: parsedByChain.transform(asJson),
    builtInNetworks: builtInNetworks.map((network) => ({ type, ...network })),
  };
}

/** Two families. Both know a `mainnet`, only one knows `sepolia`. */
export const chains: KnownChains = new Map([
  [
    'evm',
    chain('evm', 'secp256k1', [
      { network: 'mainnet', rpc_urls: ['https://one.test'], chain_id: 1, features: ['eip1559'], tags: ['first'] },
      { network: 'sepolia', from: 'mainnet', rpc_urls: ['https://two.test'], chain_id: 11155111, tags: ['second'] },
    ]),
  ],
  [
    'stellar',
    chain('stellar', 'ed25519', [{ network: 'mainnet', rpc_urls: ['https://three.test'], passphrase: 'Public' }]),
  ],
]);

const secret = z.object({ type: z.enum(['env', 'plain']), value: z.string() });

export const signerKinds: KnownSignerKinds = new Map<string, KnownSignerKind>([
  [
    'local',
    { curves: ['secp256k1', 'ed25519'], configSchema: z.strictObject({ path: z.string(), passphrase: secret }) },
  ],
  [
    'either',
    {
      curves: ['secp256k1', 'ed25519'],
      configSchema: z.strictObject({ curve: z.string() }),
      curvesOf: (config) => [(config as { curve: string }).curve],
    },
  ],
  ['half', { curves: ['ed25519'], configSchema: z.strictObject({}), notFor: { stellar: 'it knows no stars' } }],
  ['sealed', { curves: ['ed25519'], configSchema: z.strictObject({}), variables: ['SEALED_TOKEN'] }],
]);

/** The entry of a relayer that has no fault. */
export const relayer = {
  id: 'r1',
  name: 'One',
  network: 'sepolia',
  network_type: 'evm',
  paused: false,
  signer_id: 's1',
};

export const signer = {
  id: 's1',
  type: 'local',
  config: { path: 'k.json', passphrase: { type: 'plain', value: 'p' } },
};

/** Writes the files into a temporary folder and loads them. */
export async function load(
  t: Test,
  files: Record<string, unknown>,
  env: Record<string, string> = {},
  { isFirst = false } = {},
): Promise<Configuration> {
  const tree: Record<string, string | Record<string, string | Record<string, string>>> = {};
  for (const [path, content] of Object.entries(files)) {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    const steps = path.split('/');
    let folder = tree as Record<string, unknown>;
    for (const step of steps.slice(0, -1)) folder = (folder[step] ??= {}) as Record<string, unknown>;
    folder[steps.at(-1) ?? ''] = text;
  }
  return loadConfiguration({ env, cwd: t.testdir(tree), chains, signerKinds, isFirst });
}

/** The problems of a configuration that cannot be used, each in one line. */
export async function problemsOf(
  t: Test,
  files: Record<string, unknown>,
  env: Record<string, string> = {},
): Promise<string[]> {
  try {
    await load(t, files, env);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems.map(problemText);
    throw error;
  }
  return [];
}
