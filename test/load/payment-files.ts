/**
 * How many source files one EVM payment runs through: one relayer on anvil, one request, and the named functions of
 * `src` and `sandbox` that ran in this process between the `POST` and the block, or in the 60 s after it.
 *
 *   bin/node test/load/payment-files.ts [--seconds 60] [--list]
 */
import { Session } from 'node:inspector/promises';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { JsonRpcProvider } from 'ethers';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { createWorkspace } from '../support/workspace.ts';

const TRANSFER = { to: `0x${'7'.repeat(40)}`, value: '1000', data: '0x', gas_limit: 21_000, speed: 'fast' };
const root = join(import.meta.dirname, '..', '..');
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, list: { type: 'boolean', default: false } },
});

const anvil = await startAnvil({ blockTime: 1 });
const node = new JsonRpcProvider(anvil.url, undefined, { staticNetwork: true, cacheTimeout: -1 });
const workspace = await createWorkspace({
  rpcUrl: anvil.url,
  accounts: 1,
  config: {
    relayers: [{ id: 'r1', name: 'r1', network: 'local', network_type: 'evm', signer_id: 'local-key', paused: false }],
  },
  plugins: [{ id: 'hello', path: 'hello.ts' }],
  pluginFiles: { 'hello.ts': 'export async function handler() {}' },
});
const [address = ''] = workspace.addresses;
await node.send('anvil_setBalance', [address, '0xde0b6b3a7640000']);
const service = await composeService(workspace.env);
const session = new Session();
try {
  // What a start runs once is not the payment's.
  await sleep(5_000);
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  await pay();
  await sleep(Number(values.seconds) * 1000);
  const { result } = await session.post('Profiler.takePreciseCoverage');

  const ran = new Map<string, string[]>();
  for (const { url, functions } of result) {
    const file = url.startsWith('file:') ? relative(root, fileURLToPath(url)).replaceAll('\\', '/') : '';
    if (!/^(src|sandbox)\//.test(file)) continue;
    const names = functions.flatMap(({ functionName, ranges }) =>
      functionName !== '' && (ranges[0]?.count ?? 0) > 0 ? [functionName] : [],
    );
    if (names.length > 0) ran.set(file, names);
  }
  if (values.list)
    for (const [file, names] of [...ran].toSorted(([a], [b]) => (a < b ? -1 : 1)))
      console.log(`${file}: ${names.join(', ')}`);
  const functions = [...ran.values()].reduce((sum, names) => sum + names.length, 0);
  console.log(`${ran.size} files, ${functions} named functions`);
} finally {
  await service.stop();
  node.destroy();
  await anvil.stop();
  await workspace.remove();
}

/** Sends one payment, and waits until it is in a block. */
async function pay(): Promise<void> {
  const path = '/api/v1/relayers/r1/transactions';
  const { status, body } = await ask('POST', path, TRANSFER);
  if (status !== 200) throw new Error(`the payment was not accepted: ${JSON.stringify(body)}`);
  for (let seconds = 0; seconds < 60; seconds += 1) {
    const { body: now } = await ask('GET', `${path}/${body.data.id}`);
    if (['mined', 'confirmed'].includes(now.data.status)) return;
    await sleep(1000);
  }
  throw new Error('the payment was not mined');
}

/** Not by `service.request`: it checks answers against the API's description, in this process. */
async function ask(method: string, path: string, body?: unknown) {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as { data: { id: string; status: string } } };
}
