import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Anvil, startAnvil } from '../../support/anvil.ts';
import { declareRelayers, type RelayerAccount } from '../../support/relayer-accounts.ts';
import { type RunningService, startService } from '../../support/service.ts';
import { createWorkspace } from '../../support/workspace.ts';
import { COUNTER, REVERTER } from '../soak/payments/evm/plan.ts';
import { HONEST_PLUGINS } from './honest-plugins.ts';
import { ATTACK_TIMEOUT_S, type HostilePlugin } from './hostile-plugins.ts';

/** A node, a server with honest and hostile plugins, and the relayers for honest requests. */
export interface Arena {
  readonly anvil: Anvil;
  readonly service: RunningService;
  readonly relayers: readonly RelayerAccount[];
  /** Safe to call twice. */
  close(): Promise<void>;
}

const RELAYERS = 2;
const HONEST_TIMEOUT_S = 30;

/** Opens an arena. Hostile plugins have the default limits, except those that their attack sets. */
export async function openArena(hostile: readonly HostilePlugin[]): Promise<Arena> {
  const opened: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of opened.splice(0).toReversed()) await end();
  };
  try {
    return { ...(await open(hostile, opened)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function open(hostile: readonly HostilePlugin[], opened: (() => Promise<unknown>)[]) {
  const anvil = await startAnvil({ blockTime: 0.1 });
  opened.push(() => anvil.stop());
  for (const { address, code } of [COUNTER, REVERTER]) await anvil.rpc('anvil_setCode', [address, code]);
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    network: { required_confirmations: 2, average_blocktime_ms: 1_000 },
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '1000000', RATE_LIMIT_BURST_SIZE: '1000000' },
  });
  opened.push(() => workspace.remove());
  // Operators install packages beside the plugins in the same way.
  await symlink(join(import.meta.dirname, '..', '..', '..', 'node_modules'), join(workspace.dir, 'node_modules'));
  const relayers = await declareRelayers(workspace, anvil, { relayers: RELAYERS });
  const honest = Object.entries(HONEST_PLUGINS);
  for (const [id, source] of honest) await workspace.writePlugin(`${id}.ts`, source);
  for (const { id, source } of hostile) await workspace.writePlugin(`${id}.ts`, source);
  await declarePlugins(join(workspace.dir, 'config', 'config.json'), [
    ...honest.map(([id]) => ({ id, path: `${id}.ts`, timeout: HONEST_TIMEOUT_S })),
    ...hostile.map(({ id, attack: { limits } }) => ({
      id,
      path: `${id}.ts`,
      timeout: ATTACK_TIMEOUT_S,
      // Read-only, because the verdict counts the accounts' transactions: only honest requests may pay from them.
      permissions: { relayers: Object.fromEntries(relayers.map(({ relayerId }) => [relayerId, ['read']])), kv: true },
      ...(limits === undefined ? {} : { limits }),
    })),
  ]);
  const service = await startService(
    { ...workspace.env, LOG_LEVEL: 'info' },
    'test/load/soak/calls/collected-server.ts',
  );
  opened.push(() => service.stop());
  return { anvil, service, relayers };
}

async function declarePlugins(file: string, plugins: readonly object[]): Promise<void> {
  const config = JSON.parse(await readFile(file, 'utf8')) as object;
  await writeFile(file, JSON.stringify({ ...config, plugins }));
}
