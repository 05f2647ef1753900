import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { startAnvil } from '../../test/support/anvil.ts';
import { startService } from '../../test/support/service.ts';
import { createWorkspace } from '../../test/support/workspace.ts';
import { fund, receiptOf } from './chain.ts';
import type { Narrator } from './narrator.ts';
import { type CleanUp, callPlugin, tellCourse } from './stage.ts';

const PLUGIN = 'sponsored-transfer';
const RECEIVER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const ONE_ETHER = '1000000000000000000';
const ONE_MILLIETHER = '1000000000000000';

/** Seconds between two blocks with `--stay`. Without it, each transaction gets a block at once. */
const BLOCK_SECONDS = 3;

/**
 * Shows a plugin that pays through a relayer on a local Ethereum node. Resolves with a function that makes the plugin
 * pay again.
 */
export async function evmDemo(say: Narrator, cleanUp: CleanUp, isWatched: boolean): Promise<() => Promise<void>> {
  const anvil = await startAnvil();
  cleanUp(() => anvil.stop());
  say.step('chain', `anvil, a local Ethereum node, answers at ${anvil.url}`);

  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    plugins: [
      {
        id: PLUGIN,
        path: `${PLUGIN}/index.ts`,
        emit_logs: true,
        emit_traces: true,
        config: { relayer: 'local-1', allowance: ONE_ETHER },
        permissions: { relayers: { 'local-1': ['read', 'send'] }, kv: true },
      },
    ],
  });
  cleanUp(() => workspace.remove());
  await cp(join(import.meta.dirname, '..', PLUGIN), join(workspace.dir, 'plugins', PLUGIN), {
    recursive: true,
  });
  await fund(anvil.url, workspace.address);
  say.step('keystore', `made on the spot for account ${workspace.address}, funded with 1 ether`);
  say.step('plugin', `plugins/${PLUGIN}/ dropped in`);

  const service = await startService(workspace.env, undefined, isWatched ? 'inherit' : 'pipe');
  cleanUp(() => service.stop());
  say.step('server', `ready at ${service.url}, relayer local-1 on chain 31337`);

  const params = { to: RECEIVER, value: ONE_MILLIETHER };
  const { data, metadata } = await callPlugin(say, service, PLUGIN, params);
  const receipt = await receiptOf(anvil.url, String(data['hash']));
  say.step('mined', `transaction ${receipt.hash}`);
  say.detail(`block ${receipt.block}, gas used ${receipt.gasUsed}, status ${receipt.status}`);
  tellCourse(say, metadata);
  if (isWatched) await anvil.rpc('evm_setIntervalMining', [BLOCK_SECONDS]);
  return async () => {
    await service.call(PLUGIN, params);
  };
}
