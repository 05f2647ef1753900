import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { checkPlugins, findTypeProblems } from '../../../../src/cli/plugin/check.ts';
import { installTypes, TYPES_DIR } from '../../../../src/cli/plugin/install-types.ts';
import { commandBefore, given } from '../../../support/cli-answers.ts';

/** Without the types of browsers, which take the compiler most of its time. */
const SMALL_PROJECT = '{ "compilerOptions": { "strict": true, "types": [], "lib": ["es2022"] } }';

t.test('check plugins', async (t) => {
  const plugins = {
    'wide.ts': `import { createHash } from 'node:crypto';
    import legacy from 'legacy';
    export const handler = async () => [createHash('md5'), legacy, process.env.API_URL, await fetch('https://api.example/x')];`,
    'broken.ts': `import { a } from 'not-there';
    import { b } from './neither.ts';
    export const handler = () => [a, b];`,
    node_modules: {
      legacy: {
        'package.json': '{ "name": "legacy" }',
        'index.js': "const fs = require('fs'); module.exports = () => fs.readFileSync;",
      },
    },
  };

  t.test('what a plugin is made of and would have to be granted', { timeout: 120_000 }, async (t) => {
    const { context, said, complained } = commandBefore(t.testdir({ plugins }), () => ({ body: {} }));
    t.equal(await checkPlugins(context, given([])), 1);
    for (const line of [
      'There is no configuration file, which is allowed: checked as if nothing were granted',
      /plugin wide: wide\.ts compiles, \d+\.\d KiB/,
      'of Node.js: crypto',
      'throws when it is called: fs',
      'are not granted: API_URL',
      'may not fetch from: api.example',
      '"permissions":{"relayers":{},"kv":true,"env":["API_URL"],"hosts":["api.example"]}',
      /compiled in \d+\.\d s/,
      'types: not checked',
    ]) {
      t.match(said(), line);
    }
    t.match(
      complained(),
      /^plugin broken.*broken\.ts:1:\d+: Could not resolve "not-there"\n.*broken\.ts:2:\d+: .*neither/,
    );
  });

  t.test('faults of other plugins are not those of the one that is asked for', { timeout: 240_000 }, async (t) => {
    const wrong = 'export const handler = (): number => "x";';
    const files = {
      'tsconfig.json': SMALL_PROJECT,
      'right.ts': 'export const handler = () => 1;',
      'wrong.ts': wrong,
      'broken.ts': `import './neither.ts';`,
      deep: { 'index.ts': wrong },
    };
    const { context, said, complained } = commandBefore(t.testdir({ plugins: files }), () => ({ body: {} }));
    t.equal(await checkPlugins(context, given(['right'])), 0, complained());
    t.match(said(), 'types: ok');
    t.equal(complained(), '');
    await t.rejects(checkPlugins(context, given(['nobody'])), /There is no plugin "nobody" in/);
    t.equal(await checkPlugins(context, given([])), 1);
    for (const line of [/^wrong\.ts\(1,\d+\): error TS2322/m, /^deep\/index\.ts\(1,/m]) t.match(complained(), line);
    t.match(said(), 'types: 3 problems');
  });

  t.test('a file that does not parse hides no type error of another', { timeout: 240_000 }, async (t) => {
    const files = {
      'tsconfig.json': SMALL_PROJECT,
      'typo.ts': 'export const handler = () => ({ send: 1 }).sned;',
      'other.ts': 'export async function handler( {',
      'imports.ts': `import './_half.ts'; export const handler = () => 1;`,
      '_half.ts': 'export const x = ;',
      'long.ts': `export const handler = (): { a: { b: string } } => ({ a: { b: 1 } }) as { a: { b: number } };`,
    };
    const folder = t.testdir({ plugins: files });
    const check = async (...ids: string[]) => {
      const { context, said, complained } = commandBefore(folder, () => ({ body: {} }));
      return { code: await checkPlugins(context, given(ids)), said: said(), complained: complained() };
    };
    t.match(await check('typo'), {
      code: 1,
      said: /types: 1 problem$/m,
      complained: /^typo\.ts\(1,\d+\): error TS2339: .*'sned'/m,
    });
    t.match(await check('long'), { code: 1, said: /types: 1 problem$/m, complained: /^long\.ts.*TS2322.*\n +/ });
    t.match(await check('imports'), { code: 1, said: 'types: not checked, because _half.ts does not parse' });
    t.match(await check(), { code: 1, said: 'types: not checked, because _half.ts does not parse' });
    rmSync(join(folder, 'plugins', 'imports.ts'));
    t.match(await check(), {
      code: 1,
      complained: /other\.ts\(1,\d+\): error TS1[^]*typo\.ts\(1,\d+\): error TS2339/,
    });
    t.strictSame(
      readdirSync(join(folder, 'plugins')).sort(),
      Object.keys(files)
        .filter((file) => file !== 'imports.ts')
        .sort(),
      'nothing is left behind',
    );
  });
});

t.test('install types', async (t) => {
  /** Plugins in the forms of the reference's examples: they import and use the same names. */
  const PLUGINS = {
    'rpc.ts': `import { JsonRpcResponseNetworkRpcResult, PluginAPI, PluginContext } from "@openzeppelin/relayer-sdk";
    export async function handler(context: PluginContext): Promise<JsonRpcResponseNetworkRpcResult> {
      const relayer = context.api.useRelayer("r");
      return await relayer.rpc({ method: 'eth_blockNumber', id: 1, jsonrpc: '2.0', params: ['latest'] });
    }
    export type Used = PluginAPI;`,
    'sends.ts': `import { PluginAPI, Speed } from "@openzeppelin/relayer-sdk";
    export async function handler(api: PluginAPI, params: { to: string; amount?: number }): Promise<string | null> {
      const sent = await api.useRelayer('r').sendTransaction({ to: params.to, value: params.amount || 1, data: '0x', gas_limit: 21000, speed: Speed.FAST });
      console.info(\`sent \${sent.id}\`, sent.status);
      const { status, hash } = await sent.wait({ interval: 5000, timeout: 120000 });
      return hash || status;
    }`,
    'store/index.ts': `import { PluginContext } from '../../lib/plugin';
    export async function handler({ kv, params }: PluginContext) {
      await kv.set('a', { text: 'x' }, { ttlSec: 5 });
      const value = await kv.get<{ text: string }>('a');
      const result = await kv.withLock(params.key, async () => ({ ok: true }), { ttlSec: 30, onBusy: params.b === 'skip' ? 'skip' : 'throw' });
      return { text: value?.text, keys: await kv.listKeys(params?.pattern ?? '*', 500), result };
    }`,
    'old.ts': `import { PluginAPI, runPlugin } from "../lib/plugin";
    async function example(api: PluginAPI, params: { a: string }): Promise<string> { return params.a + typeof api; }
    runPlugin(example);`,
    'gelato/index.ts': `import { Web3Function, Web3FunctionContext, Web3FunctionEventContext } from "@gelatonetwork/web3-functions-sdk";
    Web3Function.onRun(async (context: Web3FunctionContext) => {
      const { userArgs, storage, multiChainProvider, gelatoArgs, secrets } = context;
      const last = parseInt((await storage.get('last')) ?? '0');
      const block = await multiChainProvider.default().getBlock('latest');
      if (block.timestamp < last + gelatoArgs.chainId) return { canExec: false, message: \`not due \${await secrets.get('A')}\` };
      return { canExec: true, callData: [{ to: userArgs.board as string, data: '0x' }] };
    });
    Web3Function.onRun(async ({ log }: Web3FunctionEventContext) => ({ canExec: false, message: String(log.blockNumber) }));`,
    'action.ts': `import { Defender } from '@openzeppelin/defender-sdk';
    import { DefenderRelayProvider, DefenderRelaySigner } from 'defender-relay-client/lib/ethers';
    export async function handler(event: { credentials: string; relayerARN: string; secrets: Record<string, string> }) {
      const client = new Defender(event);
      const signer = new DefenderRelaySigner(event, new DefenderRelayProvider(event), { speed: 'fast' });
      await client.keyValueStore.put('a', event.secrets['b'] ?? '');
      return (await client.relaySigner.sendTransaction({ to: await signer.getAddress(), speed: 'fast' })).hash;
    }`,
    'world.ts': `import { createHash } from 'node:crypto';
    import { pluginError, type EvmTransactionResponse, type PluginContext, type StellarTransactionRequest } from 'isolayer';
    export const stellar: StellarTransactionRequest = { network: 'testnet', operations: [{ type: 'payment', destination: 'G', amount: 1, asset: { type: 'native' } }] };
    export async function handler({ api, headers, query }: PluginContext) {
      const tx = (await api.useRelayer('r').getTransaction({ transactionId: 't' })) as EvmTransactionResponse;
      if (headers['x-a']?.[0] !== query['a']?.[0]) throw pluginError('no', { code: 'NO', status: 401 });
      const answer = await fetch(new URL('https://a.example'), { signal: AbortSignal.timeout(5) });
      return [tx.nonce, Buffer.from('a').toString('hex'), createHash('sha256'), new ReadableStream(), await answer.json(), process.env['A']];
    }`,
  };

  t.test(
    'plugins of the reference type-check unchanged, and what is wrong is found',
    { timeout: 120_000 },
    async (t) => {
      const dir = t.testdir({ plugins: { store: {}, gelato: {} } });
      const plugins = join(dir, 'plugins');
      const { context, said } = commandBefore(dir, () => ({ body: {} }));
      t.equal(await installTypes(context), 0);
      t.match(said(), `plugins/${TYPES_DIR}`);
      for (const [name, text] of Object.entries(PLUGINS)) writeFileSync(join(plugins, name), text);
      writeFileSync(
        join(plugins, 'wrong.ts'),
        `import { PluginContext } from 'isolayer';\nexport const handler = ({ kv }: PluginContext): number => kv.get('a');`,
      );
      const { problems, note } = await findTypeProblems(plugins);
      t.equal(note, undefined);
      t.match(problems, [/^wrong\.ts\(2,\d+\): error TS2322/]);
      t.ok(
        problems.every((line) => /^(wrong\.ts| )/.test(line)),
        problems.join('\n'),
      );
    },
  );

  t.test('a tsconfig.json of the author is left alone', async (t) => {
    const own = '{ "compilerOptions": {} }';
    const dir = t.testdir({ plugins: { 'tsconfig.json': own } });
    const { context, said } = commandBefore(dir, () => ({ body: {} }));
    await installTypes(context);
    t.equal(readFileSync(join(dir, 'plugins', 'tsconfig.json'), 'utf8'), own);
    t.match(said(), 'add "extends": "./.isolayer/tsconfig.json"');
    t.ok(existsSync(join(dir, 'plugins', TYPES_DIR, '.gitignore')));
  });
});
