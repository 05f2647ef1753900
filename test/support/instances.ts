import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { EngineTiming } from '../../src/engine/timing.ts';
import { type Anvil, type AnvilOptions, startAnvil } from './anvil.ts';
import { composeService } from './composed-service.ts';
import type { Postgres } from './postgres.ts';
import { type RunningService, type StartedService, startService } from './service.ts';
import { createWorkspace } from './workspace.ts';

/** The path for sending and listing the relayer's transactions. */
export const TRANSACTIONS = '/api/v1/relayers/local-1/transactions';
/** An account that has only what these transactions send to it. */
export const RECEIVER = '0x00000000000000000000000000000000000abcde';
/** A payment of 7 wei to {@link RECEIVER}. */
export const TRANSFER = { to: RECEIVER, value: '7', data: '0x', gas_limit: 21_000, speed: 'fast' };

/** Several instances of the service on one database and one node, with one funded relayer, `local-1`. */
export interface Instances {
  anvil: Anvil;
  address: string;
  /** The folder of their data folders. */
  dir: string;
  /** The environment that they start with, without the data folder. */
  env: Record<string, string>;
  /** Starts another instance with its own data folder (`data-1`, …). `rpcUrl` gives it its own endpoint. */
  start(env?: Record<string, string>, rpcUrl?: string): Promise<RunningService>;
  /** Starts another instance in this process, for tests that kill none. */
  compose(env?: Record<string, string>, rpcUrl?: string, pace?: Partial<EngineTiming>): Promise<StartedService>;
}

/** Makes an empty database, a node that mines by time, and a configuration. Started instances end with the test. */
export async function instancesFor(
  t: Test,
  postgres: Postgres,
  options: AnvilOptions = { blockTime: 0.1 },
): Promise<Instances> {
  const anvil = await startAnvil(options);
  t.teardown(() => anvil.stop());
  const workspace = await createWorkspace({ rpcUrl: anvil.url });
  t.teardown(() => workspace.remove());
  await anvil.rpc('anvil_setBalance', [workspace.address, `0x${(10n ** 20n).toString(16)}`]);
  const shared: Record<string, string> = {
    ...workspace.env,
    HOST: '127.0.0.1',
    API_KEY: 'the same key on every instance, 32 or more'.replaceAll(' ', '-'),
    DATABASE_URL: await postgres.createDatabase(),
    STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    RATE_LIMIT_REQUESTS_PER_SECOND: '100000',
    RATE_LIMIT_BURST_SIZE: '100000',
    LOG_LEVEL: 'debug',
  };
  let count = 0;
  const nextEnv = async (env: Record<string, string>, rpcUrl: string | undefined): Promise<Record<string, string>> => {
    count += 1;
    const own: Record<string, string> = { DATA_DIR: join(workspace.dir, `data-${count}`) };
    if (rpcUrl !== undefined) {
      own['CONFIG_DIR'] = join(workspace.dir, `config-${count}`);
      await cp(join(workspace.dir, 'config'), own['CONFIG_DIR'], { recursive: true });
      const network = { network: 'local', rpc_urls: [rpcUrl] };
      await writeFile(join(own['CONFIG_DIR'], 'networks', 'local.json'), JSON.stringify(network));
    }
    return { ...shared, ...env, ...own };
  };
  return {
    anvil,
    address: workspace.address,
    dir: workspace.dir,
    env: shared,
    async start(env = {}, rpcUrl) {
      const service = await startService(await nextEnv(env, rpcUrl));
      t.teardown(() => service.kill());
      return service;
    },
    async compose(env = {}, rpcUrl, pace = {}) {
      const service = await composeService(await nextEnv(env, rpcUrl), pace);
      t.teardown(() => service.stop());
      return service;
    },
  };
}

/** A transaction as the API lists it, as far as a test looks at it. */
export interface Sent {
  id: string;
  status: string;
  nonce: number;
  hash: string;
}

/** Sends transactions one after the other on each service, and on all services at the same time. */
export async function send(services: readonly StartedService[], count: number): Promise<string[]> {
  const ids: string[] = [];
  let left = count;
  const sender = async (service: StartedService) => {
    while (left > 0) {
      left -= 1;
      const { status, body } = await service.request('POST', TRANSACTIONS, TRANSFER);
      if (status !== 200) throw new Error(`not accepted: ${JSON.stringify(body)}`);
      ids.push(body.data.id);
    }
  };
  await Promise.all(services.flatMap((service) => Array.from({ length: 4 }, () => sender(service))));
  return ids;
}

async function listed(service: StartedService): Promise<Sent[]> {
  return (await service.request('GET', `${TRANSACTIONS}?per_page=500`)).body.data;
}

export async function untilMined(service: StartedService, count: number): Promise<Sent[]> {
  const end = Date.now() + 45_000;
  for (;;) {
    const mined = (await listed(service)).filter(({ status }) => status === 'mined' || status === 'confirmed');
    if (mined.length >= count) return mined;
    if (Date.now() > end) throw new Error(`${mined.length} of ${count} are mined\n${service.output().slice(-4000)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Asserts that each was paid once, under nonces without a gap, and that nothing else was paid. */
export async function assertPaidOnce(
  t: Test,
  { anvil, address }: Pick<Instances, 'anvil' | 'address'>,
  mined: readonly Sent[],
): Promise<void> {
  const nonces = mined.map(({ nonce }) => nonce).sort((a, b) => a - b);
  t.strictSame(
    nonces,
    nonces.map((_, index) => index),
  );
  t.equal(new Set(mined.map(({ hash }) => hash)).size, mined.length);
  t.equal(Number(await anvil.rpc('eth_getTransactionCount', [address, 'pending'])), mined.length);
  t.equal(BigInt(String(await anvil.rpc('eth_getBalance', [RECEIVER, 'latest']))), 7n * BigInt(mined.length));
}

/** The instance that drives the relayer's account. */
export function ownerOf<S extends StartedService>(services: readonly S[]): S {
  const owners = services.filter((service) => /"lease":"evm:31337@.*lease taken/.test(service.output()));
  const [owner] = owners;
  if (owner === undefined || owners.length > 1) throw new Error(`${owners.length} instances took the lane`);
  return owner;
}
