/** Threat: the database refuses an id in a path as invalid text, and the answer is a fault of the service. */
import t, { type Test } from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { instancesFor, TRANSACTIONS, TRANSFER } from '../support/instances.ts';
import { startPostgres } from '../support/postgres.ts';
import type { StartedService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const NUL = '%00';
const SHOWN = '\u{fffd}';

async function assertUnknown(t: Test, service: StartedService): Promise<void> {
  const relayers = '/api/v1/relayers';
  const relayer = `Relayer with ID ${SHOWN} not found`;
  const transaction = `Transaction with ID a${SHOWN} not found`;
  const notification = `Notification with ID '${SHOWN}' not found`;
  const requests: [method: string, path: string, body: object | undefined, error: string][] = [
    ['GET', `${relayers}/${NUL}`, undefined, relayer],
    ['PATCH', `${relayers}/${NUL}`, {}, relayer],
    ['GET', `${relayers}/${NUL}/status`, undefined, relayer],
    ['GET', `${relayers}/${NUL}/balance`, undefined, relayer],
    ['GET', `${relayers}/${NUL}/transactions`, undefined, relayer],
    ['POST', `${relayers}/${NUL}/transactions`, TRANSFER, relayer],
    ['GET', `${relayers}/${NUL}/transactions/by-nonce/0`, undefined, relayer],
    ['DELETE', `${relayers}/${NUL}/transactions/pending`, undefined, relayer],
    ['POST', `${relayers}/${NUL}/sign`, { message: 'x' }, relayer],
    ['POST', `${relayers}/${NUL}/rpc`, { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }, relayer],
    ['GET', `${TRANSACTIONS}/by-hash/a${NUL}`, undefined, transaction],
    ['GET', `${TRANSACTIONS}/a${NUL}`, undefined, transaction],
    ['GET', `${TRANSACTIONS}/a${NUL}/timeline`, undefined, transaction],
    ['PUT', `${TRANSACTIONS}/a${NUL}`, TRANSFER, transaction],
    ['DELETE', `${TRANSACTIONS}/a${NUL}`, undefined, transaction],
    ['GET', `/api/v1/notifications/${NUL}`, undefined, notification],
    ['PATCH', `/api/v1/notifications/${NUL}`, {}, notification],
    ['DELETE', `/api/v1/notifications/${NUL}`, undefined, notification],
    ['POST', `/api/v1/plugins/${NUL}/call`, {}, `Plugin with id ${SHOWN} not found`],
  ];
  for (const [method, path, body, error] of requests) {
    const { status, body: answer } = await service.request(method, path, body);
    t.strictSame([status, answer.error], [404, error], `${method} ${path}`);
  }
  // A lone surrogate is not valid UTF-8, so a path cannot contain it.
  for (const path of [`${relayers}/%ed%a0%80`, `${TRANSACTIONS}/by-nonce/${NUL}`, `${TRANSACTIONS}?status=${NUL}`]) {
    t.equal((await service.request('GET', path)).status, 400, path);
  }
}

t.test('an id that no database takes is unknown, on PostgreSQL', async (t) => {
  const postgres = await startPostgres();
  t.teardown(() => postgres.stop());
  const instances = await instancesFor(t, postgres);
  await assertUnknown(t, await instances.compose());
});

t.test('an id that no database takes is unknown, on SQLite', async (t) => {
  const anvil = await startAnvil({ blockTime: 0.1 });
  t.teardown(() => anvil.stop());
  const workspace = await createWorkspace({ rpcUrl: anvil.url });
  t.teardown(() => workspace.remove());
  await anvil.rpc('anvil_setBalance', [workspace.address, '0xffffffffffffffff']);
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  await assertUnknown(t, service);
});
