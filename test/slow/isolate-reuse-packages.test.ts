/**
 * Ordinary plugins keep their isolate. What the runtime loads late or remembers does not count as a change by the call.
 */
import { generateKeyPairSync } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { Keypair } from '@stellar/stellar-sdk';
import t from 'tap';
import { PackageFolder } from '../support/packages/package-oracle.ts';
import { startPluginHost } from '../support/plugin-host.ts';
import { PluginServices } from '../support/plugin-services.ts';

const CALLS = 13;
const PEM = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });

/** Counts its own calls. A module variable lives as long as its isolate. */
const counting = (imports: string, body: string) => `${imports}
  let calls = 0;
  export async function handler(context: any) {
    calls += 1;
    const { params } = context;
    ${body}
    return calls;
  }`;

const PLUGINS: Record<string, string> = {
  ethers: counting(
    "import { AbiCoder, Interface, keccak256, parseUnits, Wallet } from 'ethers';",
    `const token = new Interface(['function transfer(address to, uint256 amount) returns (bool)']);
    const data = token.encodeFunctionData('transfer', ['0x' + '1'.repeat(40), parseUnits('1.5', 18)]);
    AbiCoder.defaultAbiCoder().decode(['address', 'uint256'], '0x' + data.slice(10));
    if (params.late) await new Wallet('0x' + '1'.repeat(64)).signMessage(keccak256(data));`,
  ),
  viem: counting(
    "import { encodeFunctionData, erc20Abi, hashMessage, parseEther, getAddress } from 'viem';\nimport { privateKeyToAccount } from 'viem/accounts';",
    `encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [getAddress('0x' + '1'.repeat(40)), parseEther('1')] });
    if (params.late) await privateKeyToAccount(('0x' + '1'.repeat(64)) as any).signMessage({ message: hashMessage('a') });`,
  ),
  stellar: counting(
    "import { Account, Asset, BASE_FEE, Keypair, Networks, Operation, TransactionBuilder, xdr } from '@stellar/stellar-sdk';",
    `const key = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 9));
    const tx = new TransactionBuilder(new Account(key.publicKey(), '1'), { fee: BASE_FEE, networkPassphrase: Networks.TESTNET })
      .addOperation(Operation.payment({ destination: key.publicKey(), asset: Asset.native(), amount: '1' })).setTimeout(30).build();
    if (params.late) tx.sign(key);
    xdr.TransactionEnvelope.fromXDR(tx.toXDR(), 'base64');`,
  ),
  channels: counting(
    "import { handler as inner } from '@openzeppelin/relayer-plugin-channels';",
    "await inner({ ...context, params: { management: { adminSecret: 'admin', action: params.late ? 'listChannelAccounts' : 'stats' } } });",
  ),
  capabilities: counting(
    "import { Speed, pluginError } from '@openzeppelin/relayer-sdk';",
    `const sent = await context.api.useRelayer('known').sendTransaction({ to: '0x' + '1'.repeat(40), speed: Speed.FAST });
    await sent.wait?.();
    await context.kv.set('a', { calls });
    await context.kv.get('a');
    if (params.late) try { throw pluginError('own', { code: 'OWN' }); } catch { console.log('late %s', params); }`,
  ),
  web: counting(
    '',
    `const url = new URL('https://a.example/?a=1');
    url.searchParams.append('b', '2');
    const { signal } = new AbortController();
    new Request(url, { signal, headers: new Headers({ a: 'b' }) });
    if (params.late) {
      const body = new Response('text').body.pipeThrough(new CompressionStream('gzip')).pipeThrough(new DecompressionStream('gzip'));
      await new Response(body).text();
      const key = await crypto.subtle.importKey('raw', new Uint8Array(32), { name: 'HMAC', hash: 'SHA-256' }, true, ['sign']);
      await crypto.subtle.sign('HMAC', key, new TextEncoder().encode('a'));
      new URLPattern({ pathname: '/:a' }).exec(url);
      const { port1, port2 } = new MessageChannel();
      const heard = new Promise((resolve) => { port2.onmessage = resolve; });
      port1.postMessage(structuredClone(new Map([[1, new Date(0)]])));
      await heard;
      port1.close();
      performance.now();
      await new Promise((resolve) => setTimeout(resolve, 1));
      new Intl.NumberFormat('en').format(1);
      console.table([new Intl.Segmenter('en').segment('a b').containing(0)]);
    }`,
  ),
  node: counting(
    `import { AsyncLocalStorage } from 'node:async_hooks';
    import { createCipheriv, createHash, randomBytes, sign } from 'node:crypto';
    import { EventEmitter, once } from 'node:events';
    import { pipeline } from 'node:stream/promises';
    import { PassThrough, Readable } from 'node:stream';
    import { inspect, promisify, format } from 'node:util';
    import assert from 'node:assert';
    import { parse } from 'node:url';
    class Own extends EventEmitter { on(...given: [any, any]) { return super.on(...given); } }
    const storage = new AsyncLocalStorage();`,
    `createHash('sha256').update(randomBytes(8)).digest('hex');
    if (params.late) {
      const emitter = new Own();
      setTimeout(() => emitter.emit('a', 1), 1);
      await once(emitter, 'a');
      await pipeline(Readable.from(['a', 'b']), new PassThrough(), async (parts: any) => { for await (const part of parts) String(part); });
      createCipheriv('aes-128-cbc', Buffer.alloc(16), Buffer.alloc(16)).update('a');
      sign(null, Buffer.from('a'), ${JSON.stringify(PEM)});
      await promisify((done: () => void) => void setTimeout(done, 1))();
      await storage.run('own', async () => { await null; assert.equal(storage.getStore(), 'own'); });
      assert.deepStrictEqual(parse('https://a.example/').host, 'a.example');
      format('%o', inspect(new Map([[{}, [1]]])), Object.create(emitter));
    }`,
  ),
};

const folder = new PackageFolder(
  Object.fromEntries(Object.entries(PLUGINS).map(([name, text]) => [`${name}.ts`, text])),
);
t.teardown(() => folder.remove());

const services = new PluginServices();
const address = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 7)).publicKey();
const relayer = { id: 'known', address, network: 'testnet', network_type: 'stellar', paused: false };
Object.assign(services.relayers, { get: () => Promise.resolve(relayer) });
services.waited = { id: 'tx-1', status: 'confirmed', hash: 'aa' } as never;
const settings: Record<string, string> = {
  STELLAR_NETWORK: 'testnet',
  FUND_RELAYER_ID: 'known',
  PLUGIN_ADMIN_SECRET: 'admin',
  SOROBAN_RPC_URL: 'https://rpc.example',
};
const permissions = {
  relayers: { known: ['read', 'send', 'sign', 'rpc'] },
  env: Object.keys(settings),
  kv: true,
} as never;
// Wide limits, because the machine may have other work.
const limits = { slice_ms: 20_000, cpu_ms: 60_000 } as never;
const { call, close } = await startPluginHost({
  services,
  pluginsDir: folder.plugins,
  environment: (name) => settings[name],
  entries: Object.keys(PLUGINS).map((id) => ({ id, permissions, limits })),
});
t.teardown(close);

for (const id of Object.keys(PLUGINS)) {
  t.test(`${id} keeps its isolate over many calls`, async (t) => {
    t.setTimeout(120_000);
    while (/still being compiled/.test((await call(id)).body.error)) await setTimeout(200);
    const answers: unknown[] = [];
    // Parts of the runtime that load during a call are no change either.
    for (let count = 1; count <= CALLS; count++) {
      const { body } = await call(id, { late: count % 5 === 3 });
      answers.push(body.success === true ? body.data : body.error);
    }
    t.strictSame(
      answers,
      Array.from({ length: CALLS }, (_, index) => index + 2),
    );
  });
}
