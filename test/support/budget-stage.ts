import { join } from 'node:path';
import type { Test } from 'tap';
import { type Anvil, startAnvil } from './anvil.ts';
import { composeService } from './composed-service.ts';
import { type AnswerBody, type RunningService, type StartedService, startService } from './service.ts';
import { createWorkspace } from './workspace.ts';

const ETHER = 10n ** 18n;
/** The most that `race` and each program may move in an hour, in wei. */
export const LIMIT = ETHER / 100n;
/** A tenth of it. */
export const UNIT = ETHER / 1000n;
/** Each program of the property has a plugin, a budget and a receiver of its own. */
export const PROGRAMS = 5;

const SPEND = `
export async function handler({ api, params }) {
  const price = params.gas_price === undefined ? { speed: 'fast' } : {};
  const transfer = { data: '0x', gas_limit: 21_000, ...price, ...params };
  const { id } = await api.useRelayer('local-1').sendTransaction(transfer);
  return { id };
}`;

const OTHER_WAYS = `
export async function handler({ api, params }) {
  const relayer = api.useRelayer('local-1');
  return params.rpc === undefined ? relayer.signTransaction(params.sign) : relayer.rpc(params.rpc);
}`;

/** An account that has only what a test sends to it. */
export const receiverOf = (index: number) => `0x${(0xabc0 + index).toString(16).padStart(40, '0')}`;
const granted = (id: string, caveats: object, methods = ['send', 'read', 'rpc']) => ({
  id,
  path: id.startsWith('other') ? 'other.ts' : 'spend.ts',
  permissions: { relayers: { 'local-1': { methods, ...caveats } } },
});

/** A node, and servers on one configuration. */
export interface BudgetWorld {
  anvil: Anvil;
  start(): Promise<RunningService>;
  /** Starts a server in this process, for tests that kill none. */
  compose(): Promise<StartedService>;
  paidTo(receiver: string): Promise<bigint>;
}

/** A relayer `local-1` with ten ether, and plugins that may send through it within limits. */
export async function openBudgets(t: Test, env: Record<string, string> = {}): Promise<BudgetWorld> {
  const anvil = await startAnvil({ blockTime: 0.1 });
  t.teardown(() => anvil.stop());
  const hourly = { value_per_hour: LIMIT.toString() };
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    pluginFiles: { 'spend.ts': SPEND, 'other.ts': OTHER_WAYS },
    plugins: [
      granted('race', hourly),
      granted('other', hourly),
      granted('narrow', {
        recipients: [receiverOf(100)],
        selectors: ['0x', 'transfer(address,uint256)'],
        value_per_call: 5,
      }),
      granted('costly', { fee_per_hour: '1' }),
      ...Array.from({ length: PROGRAMS }, (_, index) => granted(`program-${index}`, hourly)),
    ],
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '100000', RATE_LIMIT_BURST_SIZE: '100000', ...env },
  });
  t.teardown(() => workspace.remove());
  await anvil.rpc('anvil_setBalance', [workspace.address, `0x${(10n * ETHER).toString(16)}`]);
  let count = 0;
  const nextEnv = () => {
    const folder = 'DATABASE_URL' in env ? { DATA_DIR: join(workspace.dir, `data-${count++}`) } : {};
    return { ...workspace.env, ...folder };
  };
  return {
    anvil,
    async start() {
      const service = await startService(nextEnv());
      t.teardown(() => service.kill());
      return service;
    },
    async compose() {
      const service = await composeService(nextEnv());
      t.teardown(() => service.stop());
      return service;
    },
    paidTo: async (receiver) => BigInt(String(await anvil.rpc('eth_getBalance', [receiver, 'latest']))),
  };
}

/** Calls a plugin that pays. */
export const pay = (service: StartedService, plugin: string, to: string, value: bigint) =>
  service.call(plugin, { to, value: value.toString() });

const ENDED = ['mined', 'confirmed', 'failed', 'canceled'];

/** Resolves when every transaction is in a block or has ended otherwise. */
export async function untilNothingIsOpen(service: StartedService): Promise<AnswerBody[]> {
  const end = Date.now() + 30_000;
  for (;;) {
    const all = (await service.request('GET', '/api/v1/relayers/local-1/transactions?per_page=500')).body.data;
    if (all.every(({ status }: { status: string }) => ENDED.includes(status))) return all;
    if (Date.now() > end) throw new Error(`still open: ${JSON.stringify(all.at(0))}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
