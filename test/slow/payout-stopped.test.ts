/** Threat: the example's payout run of 1,000 rows is stopped in the middle, twice, and somebody is paid twice or never. */
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { JsonRpcProvider, toQuantity } from 'ethers';
import t from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { eventually } from '../support/eventually.ts';
import { type RunningService, startService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const EXAMPLE = join(import.meta.dirname, '..', '..', 'examples', 'payout');
const ROWS = Array.from({ length: 1000 }, (_, row) => ({
  to: `0x5${(row + 1).toString(16).padStart(39, '0')}`,
  value: String(row + 1),
}));

t.test('each row of a payout that is stopped and repeated is paid once', { timeout: 300_000 }, async (t) => {
  const anvil = await startAnvil({ blockTime: 0.2 });
  t.teardown(() => anvil.stop());
  const node = new JsonRpcProvider(anvil.url, undefined, { staticNetwork: true });
  t.teardown(() => node.destroy());
  const [, json = ''] = /```json\n([^]*?)```/.exec(await readFile(join(EXAMPLE, 'README.md'), 'utf8')) ?? [];
  const entry = JSON.parse(json.replaceAll('sepolia-1', 'local-1')) as object;
  const workspace = await createWorkspace({ rpcUrl: anvil.url, plugins: [entry] });
  t.teardown(() => workspace.remove());
  await cp(EXAMPLE, join(workspace.dir, 'plugins', 'payout'), { recursive: true });
  await node.send('anvil_setBalance', [workspace.address, toQuantity(10n ** 19n)]);

  const pay = async ({ url, apiKey }: RunningService) => {
    const headers = {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'idempotency-key': 'run-1',
    };
    const body = JSON.stringify({ params: { rows: ROWS } });
    const answer = await fetch(`${url}/api/v1/plugins/payout/call`, { method: 'POST', headers, body });
    return { status: answer.status, body: (await answer.json()) as { data: { paid: string[]; refused: object[] } } };
  };
  const accepted = async (service: RunningService) => {
    const { body } = await service.request('GET', '/api/v1/relayers/local-1/transactions?per_page=1');
    return Number(body.pagination.total_items);
  };

  let service = await startService(workspace.env);
  t.teardown(() => service.end());
  let before = 0;
  for (const enough of [200, 600]) {
    const running = pay(service).catch(() => undefined);
    const stopped = service;
    await eventually(
      () => accepted(stopped),
      (rows) => rows >= enough,
      60_000,
    );
    await service.kill();
    await running;
    service = await startService(workspace.env);
    const now = await accepted(service);
    t.ok(now > before && now < ROWS.length, `it was stopped in the middle: ${now}`);
    before = now;
  }
  const { status, body } = await pay(service);
  t.equal(status, 200, JSON.stringify(body).slice(0, 500));
  t.equal(new Set(body.data.paid).size, ROWS.length);
  t.strictSame(body.data.refused, []);
  t.equal(await accepted(service), ROWS.length);
  const unpaid = async () => {
    const balances = await Promise.all(ROWS.map(({ to }) => node.getBalance(to)));
    return ROWS.filter(({ value }, row) => balances[row] !== BigInt(value));
  };
  const left = await eventually(unpaid, (rows) => rows.length === 0, 120_000);
  t.strictSame(left, []);
});
