/**
 * `npm run demo`: a local chain, the server on its embedded defaults in a temporary folder, a keystore made on the
 * spot, and one call of a plugin that was dropped into `plugins/`. Prints what happened and leaves nothing behind.
 */
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { startAnvil } from '../test/support/anvil.ts';
import { type RunningService, startService } from '../test/support/service.ts';
import { createWorkspace } from '../test/support/workspace.ts';
import { fund, receiptOf } from './chain.ts';
import { Narrator } from './narrator.ts';

const PLUGIN = 'sponsored-transfer';
const RECEIVER = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const ONE_MILLIETHER = '1000000000000000';

const say = new Narrator(process.stdout, performance.now());
const cleanUp: (() => Promise<unknown>)[] = [];
try {
  await demo();
} catch (error) {
  process.exitCode = 1;
  say.failure(error);
} finally {
  for (const step of cleanUp.reverse()) await step();
}

async function demo(): Promise<void> {
  const anvil = await startAnvil();
  cleanUp.push(() => anvil.stop());
  say.step('chain', `anvil, a local Ethereum node, answers at ${anvil.url}`);

  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    plugins: [{ id: PLUGIN, path: `${PLUGIN}/index.ts`, emit_logs: true, emit_traces: true }],
  });
  cleanUp.push(() => workspace.remove());
  await cp(join(import.meta.dirname, '..', 'plugins', PLUGIN), join(workspace.dir, 'plugins', PLUGIN), {
    recursive: true,
  });
  await fund(anvil.url, workspace.address);
  say.step('keystore', `made on the spot for account ${workspace.address}, funded with 1 ether`);
  say.step('plugin', `plugins/${PLUGIN}/ dropped in`);

  const service = await startService(workspace.env);
  cleanUp.push(() => service.stop());
  say.step('server', `ready at ${service.url}, relayer local-1 on chain 31337`);
  await callPlugin(service, anvil.url);
}

async function callPlugin(service: RunningService, rpcUrl: string): Promise<void> {
  const path = `/api/v1/plugins/${PLUGIN}/call`;
  const params = { relayerId: 'local-1', to: RECEIVER, value: ONE_MILLIETHER };
  say.step('call', `POST ${path} ${JSON.stringify(params)}`);
  const { status, body } = await service.call(PLUGIN, params);
  if (status !== 200) throw new Error(`the call was answered with ${status}: ${JSON.stringify(body)}`);
  say.step('answer', `${status} ${JSON.stringify(body.data)}`);

  const receipt = await receiptOf(rpcUrl, body.data.hash);
  say.step('mined', `transaction ${receipt.hash}`);
  say.detail(`block ${receipt.block}, gas used ${receipt.gasUsed}, status ${receipt.status}`);
  say.list(
    'logs',
    body.metadata.logs,
    (entry: { level: string; message: string }) => `${entry.level}: ${entry.message}`,
  );
  say.list(
    'traces',
    body.metadata.traces,
    (trace: { method: string; relayerId: string; requestId: string; outcome: string; durationMs: number }) =>
      `${trace.method} through ${trace.relayerId}: ${trace.outcome} in ${trace.durationMs} ms (request ${trace.requestId})`,
  );
  say.done();
}
