/**
 * The first start bundles the packages into a few kept files, and later starts load these: the same code, and each
 * class once. Damaged files are not used. For other packages, new files are made.
 */
import { spawn } from 'node:child_process';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, globSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { StrKey } from '@stellar/stellar-sdk';
import { encodeBase58, toBeHex, verifyMessage } from 'ethers';
import t, { type Test } from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { TRANSACTIONS, TRANSFER } from '../support/instances.ts';
import { clientOf, type ServiceClient } from '../support/service.ts';
import { shippedCopy } from '../support/shipped-copy.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const root = join(import.meta.dirname, '..', '..');
const INSTALLED = join('node_modules', '.package-lock.json');
const OF_PACKAGES = /\/node_modules\/(@stellar\/stellar-sdk|ethers|fastify|kysely|pino|prom-client|undici|zod)\//;
const KEPT = /\/node_modules\/\.cache\/isolayer\/packages-\w+\//;

/** Runs before everything else. Writes the modules that the process loaded when it ends. */
const LISTENING = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module';
import { writeFileSync } from 'node:fs';
const loaded = [];
registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
process.on('exit', () => writeFileSync(process.env.LOADED, JSON.stringify(loaded)));`)}`;

/** Starts a service from this copy, and ends it after the work. Resolves with the modules that it has loaded. */
async function run(
  t: Test,
  dir: string,
  { env, dir: place }: Workspace,
  work: (service: ServiceClient) => Promise<void>,
) {
  const LOADED = join(place, 'loaded.json');
  const options = ['--import', LISTENING, '--disable-sigusr1', join(dir, 'src', 'main.ts')];
  const service = spawn(process.execPath, options, {
    cwd: dir,
    env: { ...env, PATH: process.env['PATH'], LOADED },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.teardown(() => service.kill('SIGKILL'));
  const exited = once(service, 'exit');
  let url: string | undefined;
  for await (const line of createInterface({ input: service.stdout })) {
    url = /"address":"(http:[^"]+)".*"msg":"ready"/.exec(line)?.[1];
    if (url !== undefined) break;
  }
  service.stdout.resume();
  await work(await clientOf(url ?? '', env));
  service.kill('SIGTERM');
  t.strictSame(await exited, [0, null]);
  const loaded = JSON.parse(readFileSync(LOADED, 'utf8')) as string[];
  return { kept: loaded.filter((url) => KEPT.test(url)), many: loaded.filter((url) => OF_PACKAGES.test(url)) };
}

function keptIn(dir: string): string[] {
  return globSync('node_modules/.cache/isolayer/packages-*/manifest.json', { cwd: dir });
}

t.test(
  'packages are kept by the first start, and taken while they are whole and those that are installed',
  async (t) => {
    const dir = await shippedCopy(t);
    copyFileSync(join(root, INSTALLED), join(dir, INSTALLED));
    const anvil = await startAnvil({ blockTime: 1 });
    t.teardown(() => anvil.stop());
    const workspace = await createWorkspace({ rpcUrl: anvil.url });
    t.teardown(() => workspace.remove());
    await anvil.rpc('anvil_setBalance', [workspace.address, toBeHex(10n ** 20n)]);
    withOtherFamilies(workspace);
    const untilKept = (count: number) => async () => {
      while (keptIn(dir).length < count) await delay(100);
    };

    const first = await run(t, dir, workspace, untilKept(1));
    t.equal(first.kept.length, 0);
    t.ok(first.many.length > 1000, `${first.many.length} modules`);

    const second = await run(t, dir, workspace, async (service) => {
      await relays(t, service);
      await signs(t, service, workspace);
    });
    t.ok(second.kept.length > 5, `${second.kept.length} files`);
    t.strictSame(second.many, [], 'each is loaded one way, so each class is there once');

    const [file = ''] = globSync('node_modules/.cache/isolayer/packages-*/kysely.mjs', { cwd: dir });
    truncateSync(join(dir, file), 1000);
    const spoiled = await run(t, dir, workspace, async (service) => {
      await relays(t, service);
      while ((statSync(join(dir, file), { throwIfNoEntry: false })?.size ?? 0) <= 1000) await delay(100);
    });
    t.equal(spoiled.kept.length, 0, 'of a set that is broken nothing is taken');

    const lockfile = JSON.parse(readFileSync(join(dir, INSTALLED), 'utf8'));
    // The packages here are links, so write a new file.
    writeFileSync(join(dir, INSTALLED), JSON.stringify({ ...lockfile, version: '0.0.0-other' }));
    const other = await run(t, dir, workspace, untilKept(2));
    t.equal(other.kept.length, 0, 'what was made of other packages is not taken');
  },
);

/** Adds relayers of Solana and Stellar with the same key. Nothing listens at their endpoints. */
function withOtherFamilies({ dir }: Workspace): void {
  const file = join(dir, 'config', 'config.json');
  const configuration = JSON.parse(readFileSync(file, 'utf8'));
  const [local] = configuration.relayers;
  const relayer = { ...local, custom_rpc_urls: ['http://127.0.0.1:9'] };
  configuration.relayers.push(
    { ...relayer, id: 'sol-1', network: 'devnet', network_type: 'solana' },
    {
      ...relayer,
      id: 'xlm-1',
      network: 'testnet',
      network_type: 'stellar',
      policies: { fee_payment_strategy: 'relayer' },
    },
  );
  writeFileSync(file, JSON.stringify(configuration));
}

async function relays(t: Test, service: ServiceClient): Promise<void> {
  const sent = await service.request('POST', TRANSACTIONS, TRANSFER);
  t.equal(sent.status, 200);
  for (let status = ''; status !== 'confirmed'; await delay(100)) {
    ({ status } = (await service.request('GET', `${TRANSACTIONS}/${sent.body.data.id}`)).body.data);
  }
}

async function signs(t: Test, service: ServiceClient, { address, privateKey }: Workspace): Promise<void> {
  const { body } = await service.request('POST', '/api/v1/relayers/local-1/sign', { message: 'hello' });
  t.equal(verifyMessage('hello', `0x${body.data.sig}`).toLowerCase(), address);
  const pkcs8 = Buffer.from(`302e020100300506032b657004220420${privateKey.slice(2)}`, 'hex');
  const key = createPublicKey(createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }));
  const ed25519 = Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url');
  const accounts = { 'sol-1': encodeBase58(ed25519), 'xlm-1': StrKey.encodeEd25519PublicKey(ed25519) };
  for (const [id, account] of Object.entries(accounts)) {
    t.equal((await service.request('GET', `/api/v1/relayers/${id}`)).body.data.address, account);
  }
}
