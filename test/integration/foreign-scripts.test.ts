/** Scripts of other hosts in their published shape, on a real chain: Gelato Web3 Functions and Defender Actions. */
import { createHmac } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { getAddress, Interface, JsonRpcProvider } from 'ethers';
import t from 'tap';
import { relayerOfService } from '../../src/cli/testing/fake-relayer.ts';
import { openSandbox, type SandboxOptions } from '../../src/cli/testing/sandbox.ts';
import type { Json } from '../../src/domain/json/json.ts';
import { startAnvil } from '../support/anvil.ts';
import { runTyped } from '../support/command.ts';
import { composeService } from '../support/composed-service.ts';
import { eventually } from '../support/eventually.ts';
import { quickFolder } from '../support/run-folder.ts';
import { smallContract } from '../support/small-contract.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const root = join(import.meta.dirname, '..', '..');
const at = (digit: string) => `0x${digit.repeat(40)}`;
const [ORACLE, COUNTER, FORWARDER, VAULT, CONSUMER, TALLY] = [at('a'), at('b'), at('c'), at('d'), at('e'), at('f')];
const FORWARD_SECRET = 'f'.repeat(32);
const PRICE_SET = 'PriceSet(uint256)';

const FILES = {
  // An oracle that is due every five minutes; its price comes from an API that a secret names.
  'oracle/index.ts': `
    import { Web3Function, Web3FunctionContext } from '@gelatonetwork/web3-functions-sdk';
    import { Contract } from '@ethersproject/contracts';
    const ABI = ['function updatedAt() view returns (uint256)', 'function setPrice(uint256)'];
    Web3Function.onRun(async ({ userArgs, multiChainProvider, gelatoArgs, secrets }: Web3FunctionContext) => {
      const provider = multiChainProvider.default();
      const oracle = new Contract(userArgs.oracle as string, ABI, provider);
      const due = (await oracle.updatedAt()).toNumber() + 300;
      const { timestamp } = await provider.getBlock('latest');
      if (timestamp < due) return { canExec: false, message: 'not due' };
      const api = await secrets.get('PRICE_API');
      if (!api) return { canExec: false, message: 'PRICE_API is not set' };
      const price = (await (await fetch(api + '/' + userArgs.currency)).json()).usd;
      console.log('chain', gelatoArgs.chainId, 'gas', gelatoArgs.gasPrice.gt(0));
      return {
        canExec: true,
        callData: [{ to: oracle.address, data: oracle.interface.encodeFunctionData('setPrice', [Math.floor(price)]) }],
      };
    });`,
  // Counts the events of a contract since the last run, and tells another one of them.
  'listener/index.ts': `
    import { Web3Function, Web3FunctionContext } from '@gelatonetwork/web3-functions-sdk';
    import { Interface } from '@ethersproject/abi';
    const events = new Interface(['event PriceSet(uint256 price)']);
    const counter = new Interface(['function add(uint256)', 'function fails()']);
    Web3Function.onRun(async ({ userArgs, storage, multiChainProvider }: Web3FunctionContext) => {
      const provider = multiChainProvider.chainId(31337);
      const current = await provider.getBlockNumber();
      const last = Number((await storage.get('last block')) ?? '0');
      const logs = await provider.getLogs({
        address: userArgs.oracle as string, topics: [events.getEventTopic('PriceSet')], fromBlock: last + 1, toBlock: current,
      });
      await storage.set('last block', String(current));
      if (userArgs.throws) throw new Error('after it has stored');
      if (logs.length === 0) return { canExec: false, message: 'nothing new: ' + (await storage.getKeys()) };
      const { price } = events.parseLog(logs[logs.length - 1]).args;
      const calls = [{ to: userArgs.counter as string, data: counter.encodeFunctionData('add', [price]) }];
      const failing = { to: userArgs.counter as string, data: counter.encodeFunctionData('fails') };
      return { canExec: true, callData: userArgs.fails ? [failing, ...calls] : calls };
    });
    Web3Function.onSuccess(async ({ transactionHash }) => console.log('done in', transactionHash));
    Web3Function.onFail(async ({ reason }) => console.log('failed by', reason));`,
  // Relays the signed requests of users to a forwarder, from a webhook.
  'forward.js': `
    const { Defender } = require('@openzeppelin/defender-sdk');
    const { ethers } = require('ethers');
    const ABI = ['function verify(uint256) view returns (bool)', 'function execute(uint256)'];
    exports.handler = async function (event) {
      if (!event.request || !event.request.body) throw new Error('Missing payload');
      const { request, to } = event.request.body;
      if (to !== event.secrets.FORWARDER) throw new Error('Rejected request to ' + to);
      const client = new Defender(event);
      const version = ethers.version.startsWith('6') || ethers.version.startsWith('ethers/6') ? 'v6' : 'v5';
      const provider = client.relaySigner.getProvider({ ethersVersion: version });
      const signer = await client.relaySigner.getSigner(provider, { speed: 'fast', ethersVersion: version });
      const forwarder = new ethers.Contract(event.secrets.FORWARDER, ABI, signer);
      if (!(await forwarder.verify(request))) throw new Error('Invalid request');
      const tx = await forwarder.execute(request);
      const receipt = await tx.wait();
      await client.keyValueStore.put('last/request', String(request));
      const header = event.request.headers['x-from'];
      return { txHash: tx.hash, status: receipt.status, version, header, last: await client.keyValueStore.get('last/request') };
    };`,
  // Sweeps a vault once a day, with the packages of before.
  'sweep.js': `
    const { DefenderRelaySigner, DefenderRelayProvider } = require('@openzeppelin/defender-relay-client/lib/ethers');
    const { Relayer } = require('defender-relay-client');
    const { KeyValueStoreClient } = require('defender-kvstore-client');
    const { ethers } = require('ethers');
    const main = async ({ signer, store, relayer, vault }) => {
      const day = 'swept:' + new Date().toISOString().slice(0, 10);
      if ((await store.get(day)) !== undefined) return { skipped: true };
      const data = new ethers.Interface(['function sweep(uint256)']).encodeFunctionData('sweep', [7]);
      const sent = await relayer.sendTransaction({ to: vault, data, gasLimit: 200000, speed: 'average' });
      await store.put(day, sent.transactionId);
      const known = await relayer.query(sent.transactionId);
      const paid = await signer.sendTransaction({ to: vault, value: 0 });
      return { hash: sent.hash, same: known.hash === sent.hash, from: await signer.getAddress(), sender: (await paid.wait()).from };
    };
    exports.handler = async (credentials) => {
      const provider = new DefenderRelayProvider(credentials);
      const relayer = new Relayer(credentials);
      const { address } = await relayer.getRelayer();
      const signer = new DefenderRelaySigner(credentials, provider, address, { speed: 'fast' });
      return await main({ signer, relayer, store: new KeyValueStoreClient(credentials), vault: credentials.secrets.VAULT });
    };`,
  'unmapped.js': `
    const { Defender } = require('@openzeppelin/defender-sdk');
    exports.handler = async (event) => {
      const client = new Defender({ relayerApiKey: event.request.body.key, relayerApiSecret: 'secret' });
      if (event.request.body.what === 'list') return await client.relaySigner.listTransactions();
      if (event.request.body.what === 'monitor') return await client.monitor.list();
      return (await client.relaySigner.getRelayer()).relayerId;
    };`,
};

t.test('scripts of other hosts', { timeout: 180_000 }, async (t) => {
  const anvil = await startAnvil({ blockTime: 0.1 });
  t.teardown(() => anvil.stop());
  const node = new JsonRpcProvider(anvil.url, undefined, { staticNetwork: true });
  t.teardown(() => node.destroy());
  const workspace = await createWorkspace({ rpcUrl: anvil.url });
  t.teardown(() => workspace.remove());
  const account = getAddress(workspace.address);
  await node.send('anvil_setBalance', [workspace.address, '0xde0b6b3a7640000']);
  const contracts = {
    [ORACLE]: { 'updatedAt()': { reads: 1 }, 'setPrice(uint256)': { notes: 0, event: PRICE_SET } },
    [COUNTER]: { 'add(uint256)': { notes: 0 }, 'fails()': { reverts: true } },
    [TALLY]: { 'add(uint256)': { notes: 0 } },
    [FORWARDER]: { 'verify(uint256)': { reads: 5 }, 'execute(uint256)': { notes: 0 } },
  } as const;
  for (const [address, functions] of Object.entries(contracts)) {
    await node.send('anvil_setCode', [address, smallContract(functions)]);
  }
  await node.send('anvil_setStorageAt', [FORWARDER, '0x5', `0x${'1'.padStart(64, '0')}`]);
  const slot = async (address: string, index: number) => Number(await node.getStorage(address, index));
  const env = { PRICE_API: 'https://prices.example', FORWARDER, VAULT, PRICE_KEY: 'k' };
  await importScripts(workspace);
  const service = await composeService({ ...workspace.env, ...env, FORWARD_SECRET }, { lookMs: 50 });
  t.teardown(() => service.stop());

  // Packages lie above the plugins, version 5 of ethers nearer.
  const folder = async (packages: readonly string[], files: readonly (keyof typeof FILES)[]) => {
    let dir = join(workspace.dir, `${files.join('-').replaceAll('/', '-')}-${packages.length}`);
    for (const place of packages) {
      await mkdir(dir, { recursive: true });
      await symlink(join(root, place, 'node_modules'), join(dir, 'node_modules'));
      dir = join(dir, 'in');
    }
    for (const file of files) {
      await mkdir(dirname(join(dir, file)), { recursive: true });
      await writeFile(join(dir, file), FILES[file]);
    }
    return dir;
  };
  const link = relayerOfService('local-1', { url: service.url, key: service.apiKey });
  const relayers = { 'local-1': { ...link, info: { address: workspace.address } } };
  const permissions = { relayers: { 'local-1': ['read', 'send', 'rpc'] }, kv: true };
  const open = async (dir: string, entries: NonNullable<SandboxOptions['entries']>) => {
    const sandbox = await openSandbox({
      folder: dir,
      relayers,
      entries,
      env,
      fetch: () => Response.json({ usd: 1586.4 }),
    });
    t.teardown(() => sandbox.close());
    return sandbox;
  };
  const SIX = [''];
  const FIVE = ['', 'test/counterparts'];

  await t.test('a Web3 Function sends when it is due, and not before', async (t) => {
    const entry = (more: object) => ({
      ...{ id: 'oracle', path: 'oracle/index.ts', ...more },
      config: { relayer: 'local-1', userArgs: { oracle: ORACLE, currency: 'ether' } },
    });
    const granted = { ...permissions, env: ['PRICE_API'], hosts: ['prices.example'] };
    const dir = await folder(FIVE, ['oracle/index.ts']);
    const sandbox = await open(dir, [entry({ id: 'secretless', permissions }), entry({ permissions: granted })]);
    const secretless = await sandbox.call('secretless');
    t.match(secretless.body.data, { canExec: false, message: 'PRICE_API is not set' });
    const first = await sandbox.call('oracle');
    t.match(first.body, { data: { canExec: true, transactions: [{ status: /mined|confirmed/ }] } });
    t.equal(await slot(ORACLE, 0), 1586);
    t.equal((await node.getTransactionReceipt(first.body.data.transactions[0].hash))?.from, account);
    t.match(first.body.metadata.logs, [{ message: 'chain 31337 gas true' }]);
    t.match((await sandbox.call('oracle')).body.data, { canExec: false, message: 'not due' });
    t.equal(sandbox.sent.length, 1, 'it reads a chain that has what was sent');
  });

  await t.test('a Web3 Function keeps a place in its storage, and hears what became of it', async (t) => {
    const userArgs = { oracle: ORACLE, counter: COUNTER };
    const entry = (id: string, more: object) => ({
      ...{
        id,
        path: 'listener/index.ts',
        permissions,
        config: { relayer: 'local-1', userArgs: { ...userArgs, ...more } },
      },
    });
    const dir = await folder(SIX, ['listener/index.ts']);
    const sandbox = await open(dir, [entry('threw', { throws: true }), entry('fails', { fails: true })]);
    t.equal((await sandbox.call('threw')).status, 500);
    t.equal(sandbox.values.size, 0, 'what throws stores nothing');
    const failed = await sandbox.call('fails');
    t.match(failed, { status: 422, body: { data: { code: 'EXECUTION_FAILED', details: { transactions: [] } } } });
    t.equal(sandbox.sent.length, 0, 'what a simulation refuses is not sent');
    t.match(failed.body.metadata.logs, [{ message: 'failed by SimulationFailed' }]);
    t.equal(await slot(COUNTER, 0), 0, 'a call after one that failed is not sent');
    const good = await open(dir, [entry('listener', {})]);
    const { body } = await good.call('listener');
    t.match(body.data, { canExec: true, transactions: [{ status: /mined|confirmed/ }] });
    t.equal(await slot(COUNTER, 0), 1586);
    t.match(body.metadata.logs, [{ message: `done in ${body.data.transactions[0].hash}` }]);
    t.match((await good.call('listener')).body.data, { canExec: false, message: 'nothing new: last block' });
    t.strictSame([...good.values.keys()], ['gelato:last:20:block']);
  });

  const config = { relayer: 'local-1' };
  for (const [version, packages] of [
    ['v6', SIX],
    ['v5', FIVE],
  ] as const) {
    await t.test(`an Action relays to a contract with ethers ${version}`, async (t) => {
      const entry = {
        id: 'forward',
        path: 'forward.js',
        config,
        permissions: { ...permissions, env: ['FORWARDER', 'VAULT'] },
      };
      const sandbox = await open(await folder(packages, ['forward.js']), [entry]);
      const request = version === 'v6' ? 66 : 55;
      const { status, body } = await sandbox.call('forward', {
        params: { request, to: FORWARDER },
        headers: { 'x-from': ['somebody'], cookie: ['none of its business'] },
      });
      t.equal(status, 200, JSON.stringify(body));
      t.match(body.data, { status: 1, version, header: 'somebody', last: String(request) });
      t.equal(await slot(FORWARDER, 0), request);
      t.equal((await node.getTransactionReceipt(body.data.txHash))?.status, 1);
      const refused = await sandbox.call('forward', { params: { request, to: VAULT } });
      t.match(refused.body.error, `Rejected request to ${VAULT}`);
      t.equal(sandbox.sent.length, 1);
    });
  }

  await t.test('an Action with the packages of before', async (t) => {
    const sandbox = await open(await folder(SIX, ['sweep.js']), [
      { id: 'sweep', path: 'sweep.js', config, permissions: { ...permissions, env: ['FORWARDER', 'VAULT'] } },
    ]);
    const { status, body } = await sandbox.call('sweep');
    t.equal(status, 200, JSON.stringify(body));
    t.match(body.data, { same: true, from: workspace.address, sender: account });
    const transaction = await node.getTransaction(body.data.hash);
    t.equal(transaction?.data, new Interface(['function sweep(uint256)']).encodeFunctionData('sweep', [7]));
    t.strictSame((await sandbox.call('sweep')).body.data, { skipped: true });
    t.equal(sandbox.sent.length, 2);
  });

  await t.test('what an Action asks of Defender and a plugin cannot do is said', async (t) => {
    const path = 'unmapped.js';
    const sandbox = await open(await folder(SIX, ['unmapped.js']), [
      { id: 'unmapped', path, permissions, config },
      { id: 'keyed', path, permissions, config: { relayers: { 'key-a': 'local-1' } } },
    ]);
    const call = (id: string, params: object) => sandbox.call(id, { params: { ...params } });
    t.match(await call('unmapped', { what: 'list' }), { status: 501, body: { error: /keep the ids/ } });
    t.match(await call('unmapped', { what: 'monitor' }), { status: 501, body: { error: /client\.monitor has no/ } });
    t.equal((await call('keyed', { key: 'key-a' })).body.data, 'local-1');
    t.match((await call('keyed', { key: 'key-b' })).body, { success: false, error: /none for the API key/ });
  });

  await t.test('the guide’s handler for a source of Chainlink Functions', async (t) => {
    const guide = await readFile(join(root, 'docs', 'migrating.md'), 'utf8');
    const [, text = ''] = /```ts\n([^]*?)```/.exec(guide) ?? [];
    const dir = await folder(SIX, []);
    await mkdir(dir, { recursive: true });
    await writeFile(join(dir, 'fulfil.ts'), text);
    const sandbox = await open(dir, [
      {
        id: 'fulfil',
        config: { relayer: 'local-1', contract: CONSUMER, args: ['ether'] },
        permissions: { ...permissions, env: ['PRICE_KEY'], hosts: ['api.example.com'] },
      },
    ]);
    await node.send('anvil_setCode', [CONSUMER, smallContract({ 'fulfill(bytes)': { notes: 0 } })]);
    const { body } = await sandbox.call('fulfil');
    t.match(body.data, { status: /mined|confirmed/ }, JSON.stringify(body));
    const sent = await node.getTransaction(body.data.hash);
    const [response] = new Interface(['function fulfill(bytes)']).decodeFunctionData('fulfill', sent?.data ?? '0x');
    t.equal(BigInt(response as string), 158_640n);
  });

  await t.test('what was imported runs in the service', async (t) => {
    const forwarded = await service.call('forward', { request: 77, to: FORWARDER });
    t.equal(forwarded.status, 200, JSON.stringify(forwarded.body));
    t.equal(await slot(FORWARDER, 0), 77);
    await node.send('anvil_setStorageAt', [COUNTER, '0x0', `0x${'0'.padStart(64, '0')}`]);
    const counted = await service.call('listener');
    t.match(counted.body.data, { canExec: true, transactions: [{ status: /mined|confirmed/ }] });
    t.equal(await slot(COUNTER, 0), 1586);
    t.match((await service.call('listener')).body.data, { canExec: false });
  });

  await t.test('what was imported with a schedule runs by itself, and sends once', async (t) => {
    const trigger = async () => (await service.request('GET', '/api/v1/plugins/tally')).body.data.triggers[0];
    const calls = async () => (await service.request('GET', '/api/v1/plugins/tally/calls?per_page=500')).body.data;
    t.match(await trigger(), { name: 'schedule', kind: 'every', every: '1s', state: 'active' });
    t.equal(
      await eventually(
        () => slot(TALLY, 0),
        (noted) => noted !== 0,
      ),
      1586,
    );
    const fired = (await trigger()).fired;
    await eventually(trigger, (now) => now.fired >= fired + 2);
    const answers: { canExec: boolean }[] = [];
    for (const { id, state } of await calls()) {
      if (state !== 'returned') continue;
      const { body } = await service.request('GET', `/api/v1/plugins/tally/calls/${id}`);
      t.match(body.data.trigger, { name: 'schedule' });
      answers.push(body.data.answer);
    }
    t.match(
      answers.filter(({ canExec }) => canExec),
      [{ transactions: [{ status: /mined|confirmed/ }] }],
      'one run found something new',
    );
  });

  await t.test('what was imported with a webhook is called by a signed delivery', async (t) => {
    const [{ name, kind }] = (await service.request('GET', '/api/v1/plugins/forward')).body.data.triggers;
    t.equal(kind, 'webhook');
    const deliver = (request: number, secret: string) => {
      const body = JSON.stringify({ request, to: FORWARDER });
      const signature = createHmac('sha256', secret).update(body).digest('hex');
      return fetch(`${service.url}/api/v1/hooks/forward/${name}`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', 'x-hub-signature-256': `sha256=${signature}` },
      });
    };
    t.equal((await deliver(99, 'g'.repeat(32))).status, 401);
    t.equal((await deliver(88, FORWARD_SECRET)).status, 202);
    t.equal(
      await eventually(
        () => slot(FORWARDER, 0),
        (noted) => noted === 88,
      ),
      88,
    );
  });
});

t.test('a script that waits hears of a transaction whose price was raised', { timeout: 60_000 }, async (t) => {
  const [first, second] = [`0x${'1'.repeat(64)}`, `0x${'2'.repeat(64)}`];
  const zero = `0x${'0'.repeat(512)}`;
  const receipt = {
    ...{ transactionHash: second, blockHash: `0x${'3'.repeat(64)}`, blockNumber: '0x5', transactionIndex: '0x0' },
    ...{ from: VAULT, to: VAULT, gasUsed: '0x1', cumulativeGasUsed: '0x1', effectiveGasPrice: '0x1', status: '0x1' },
    ...{ logs: [], logsBloom: zero, type: '0x2', contractAddress: null },
  };
  const known = {
    hash: null as string | null,
    nonce: 1,
    from: VAULT,
    to: VAULT,
    value: '0x0',
    gas_limit: 1,
    status: 'sent',
  };
  let asked = 0;
  const raised = {
    send: () => known,
    transaction: () => ({
      ...known,
      ...[{}, { hash: first }, { hash: second, status: 'mined' }][Math.min(asked++, 2)],
    }),
    rpc: (method: string, params: Json) =>
      ({ eth_chainId: '0x1', eth_blockNumber: '0x6' })[method] ?? ((params as string[])[0] === second ? receipt : null),
  };
  const text = `const { DefenderRelaySigner, DefenderRelayProvider } = require('defender-relay-client/lib/ethers');
    exports.handler = async (event) => {
      const provider = new DefenderRelayProvider(event);
      const signer = new DefenderRelaySigner(event, provider, { speed: 'fast' });
      const sent = await signer.sendTransaction({ to: '${VAULT}', value: 0 });
      const receipt = await sent.wait();
      return { sent: sent.hash, mined: receipt.hash ?? receipt.transactionHash };
    };`;
  for (const packages of ['', 'test/counterparts']) {
    asked = 0;
    const dir = t.testdir({
      node_modules: t.fixture('symlink', join(root, packages, 'node_modules')),
      in: { 'raised.js': text },
    });
    const sandbox = await openSandbox({
      folder: join(dir, 'in'),
      relayers: { raised },
      entries: [{ id: 'raised', path: 'raised.js', config: { relayer: 'raised' } }],
    });
    t.teardown(() => sandbox.close());
    const { body } = await sandbox.call('raised');
    t.strictSame(body.data, { sent: first, mined: second }, JSON.stringify(body));
  }
});

t.test('a Web3 Function that asks for no provider needs no ethers', async (t) => {
  // Below the system's folder, since ethers lies above the repository's own.
  const dir = await mkdtemp(join(quickFolder(), 'no-ethers-'));
  t.teardown(() => rm(dir, { recursive: true }));
  await writeFile(
    join(dir, 'bare.ts'),
    `import { Web3Function } from '@gelatonetwork/web3-functions-sdk';
    Web3Function.onRun(async ({ userArgs }) => {
      return { canExec: true, callData: [{ to: '${COUNTER}', data: '0x01' }] };
    });
    Web3Function.onSuccess(async ({ transactionHash }) => console.log('done in', transactionHash));`,
  );
  const rpc = () => '0x1';
  const sandbox = await openSandbox({
    folder: dir,
    relayers: { r: { rpc } },
    entries: [{ id: 'bare', path: 'bare.ts', config: { relayer: 'r' } }],
  });
  t.teardown(() => sandbox.close());
  const { status, body } = await sandbox.call('bare');
  t.equal(status, 200, JSON.stringify(body));
  t.match(body.metadata.logs, [{ message: `done in ${body.data.transactions[0].hash}` }]);
});

/** Brings two scripts into the service's folder as their owner would. */
async function importScripts({ dir, env }: Workspace): Promise<void> {
  const write = async (file: string, text: string) => {
    await mkdir(dirname(join(dir, 'old', file)), { recursive: true });
    await writeFile(join(dir, 'old', file), text);
  };
  await symlink(join(root, 'node_modules'), join(dir, 'node_modules'));
  for (const [name, counter] of Object.entries({ listener: COUNTER, tally: TALLY })) {
    await write(`functions/${name}/index.ts`, FILES['listener/index.ts']);
    await write(`functions/${name}/schema.json`, '{"memory":128,"timeout":30,"userArgs":{"oracle":"string"}}');
    await write(`functions/${name}/userArgs.json`, JSON.stringify({ oracle: ORACLE, counter }));
  }
  await write('actions/forward/index.js', FILES['forward.js']);
  await write(
    'serverless.yml',
    `functions: { relay: { name: Relay, path: ./actions/forward, trigger: { type: webhook }, paused: false } }`,
  );
  const typed = [['functions/listener'], ['functions/tally', '--every', '1s'], ['actions/forward']];
  for (const [folder, ...options] of typed) {
    const { code, complained } = await runTyped(dir, ['import', `old/${folder}`, ...options], env);
    if (code !== 0) throw new Error(complained);
  }
}
