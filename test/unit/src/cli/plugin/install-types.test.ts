import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { installTypes, TYPES_DIR } from '../../../../../src/cli/plugin/install-types.ts';
import { typeProblems } from '../../../../../src/cli/plugin/type-check.ts';
import { commandBefore } from '../../../../support/cli-answers.ts';

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

t.test('plugins of the reference type-check unchanged, and what is wrong is found', { timeout: 120_000 }, async (t) => {
  const dir = t.testdir({ plugins: { store: {} } });
  const plugins = join(dir, 'plugins');
  const { context, said } = commandBefore(dir, () => ({ body: {} }));
  t.equal(await installTypes(context), 0);
  t.match(said(), `plugins/${TYPES_DIR}`);
  for (const [name, text] of Object.entries(PLUGINS)) writeFileSync(join(plugins, name), text);
  writeFileSync(
    join(plugins, 'wrong.ts'),
    `import { PluginContext } from 'isolayer';\nexport const handler = ({ kv }: PluginContext): number => kv.get('a');`,
  );
  const { problems, note } = await typeProblems(plugins);
  t.equal(note, undefined);
  t.match(problems, [/^wrong\.ts\(2,\d+\): error TS2322/]);
  t.ok(
    problems.every((line) => /^(wrong\.ts| )/.test(line)),
    problems.join('\n'),
  );
});

t.test('a tsconfig.json of the author is left alone', async (t) => {
  const own = '{ "compilerOptions": {} }';
  const dir = t.testdir({ plugins: { 'tsconfig.json': own } });
  const { context, said } = commandBefore(dir, () => ({ body: {} }));
  await installTypes(context);
  t.equal(readFileSync(join(dir, 'plugins', 'tsconfig.json'), 'utf8'), own);
  t.match(said(), 'add "extends": "./.isolayer/tsconfig.json"');
  t.ok(existsSync(join(dir, 'plugins', TYPES_DIR, '.gitignore')));
});
