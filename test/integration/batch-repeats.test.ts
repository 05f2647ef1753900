/**
 * Threat: a batch is repeated under its key, and pays again what its first run sent before another of its requests
 * failed.
 */
import t from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import type { AnswerBody } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const TRANSFER = { to: `0x${'ab'.repeat(20)}`, value: '7', data: '0x', gas_limit: 21_000, speed: 'fast' };

t.test('each payment of a batch is sent once, however often the batch is', async (t) => {
  const anvil = await startAnvil({ blockTime: 0.1 });
  t.teardown(() => anvil.stop());
  const workspace = await createWorkspace({ rpcUrl: anvil.url, accounts: 2 });
  t.teardown(() => workspace.remove());
  for (const address of workspace.addresses)
    await anvil.rpc('anvil_setBalance', [address, `0x${(10n ** 20n).toString(16)}`]);
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  const batch = async (requests: object[], key: string) => {
    const response = await fetch(`${service.url}/api/v1/transactions/batch`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify({ requests }),
    });
    const { data } = (await response.json()) as AnswerBody;
    return { replayed: response.headers.get('idempotency-replayed'), data };
  };
  const sent = async (id: string): Promise<string[]> => {
    const { body } = await service.request('GET', `/api/v1/relayers/${id}/transactions`);
    return body.data.map((one: { id: string }) => one.id);
  };
  const pause = (paused: boolean) => service.request('PATCH', '/api/v1/relayers/local-2', { paused });
  const requests = ['local-1', 'local-2', 'local-1'].map((id) => ({ relayer_id: id, transaction: TRANSFER }));

  await pause(true);
  const first = await batch(requests, 'batch-1');
  t.match(first.data, [{ status: 200 }, { status: 403 }, { status: 200 }]);
  t.not(first.data[0].data.id, first.data[2].data.id, 'equal requests at two places are two payments');
  await pause(false);
  const second = await batch(requests, 'batch-1');
  t.match(second.data, [{ status: 200 }, { status: 200 }, { status: 200 }]);
  const idsOf = (data: AnswerBody) => [data[0].data.id, data[2].data.id];
  t.strictSame(idsOf(second.data), idsOf(first.data));
  const third = await batch(requests, 'batch-1');
  t.equal(third.replayed, 'true');
  t.strictSame(third.data, second.data);

  // The same payment, under an idempotency key of its own, in two batches.
  const keyed = [{ ...requests[0], idempotency_key: 'payment-1' }];
  const [one, again] = [await batch(keyed, 'batch-2'), await batch(keyed, 'batch-3')];
  t.equal(again.data[0].data.id, one.data[0].data.id);
  t.strictSame([(await sent('local-1')).length, (await sent('local-2')).length], [3, 1]);
});
