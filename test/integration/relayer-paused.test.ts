/**
 * The promise: a paused or disabled relayer accepts nothing new and says why. It still answers questions, and finishes
 * what it accepted before.
 */
import t, { type Test } from 'tap';
import { type Anvil, startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { eventually } from '../support/eventually.ts';
import { answersOf } from '../support/health-stage.ts';
import { type RpcDouble, startRpcDouble } from '../support/rpc-double.ts';
import type { StartedService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const RELAYER = '/api/v1/relayers/local-1';
const TRANSFER = {
  to: '0x00000000000000000000000000000000000abcde',
  value: '7',
  data: '0x',
  gas_limit: 21_000,
  speed: 'fast',
};

/** Requests that act. */
const ACTING = [
  ['POST', '/transactions', TRANSFER],
  ['PUT', '/transactions/:transaction', TRANSFER],
  ['DELETE', '/transactions/:transaction', undefined],
  ['DELETE', '/transactions/pending', undefined],
  ['POST', '/sign', { message: 'hello' }],
  ['POST', '/sign-typed-data', { domain_separator: '00'.repeat(32), hash_struct_message: '00'.repeat(32) }],
  ['POST', '/sign-transaction', { unsigned_xdr: 'AAAA' }],
  ['POST', '/rpc', { jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] }],
] as const;

const READING = ['', '/status', '/balance', '/transactions', '/transactions/:transaction'];

interface Stage {
  anvil: Anvil;
  endpoint: RpcDouble;
  service: StartedService;
  send(): Promise<string>;
  statusOf(id: string): Promise<string>;
  until(what: string, holds: () => Promise<boolean>): Promise<void>;
}

async function stage(t: Test): Promise<Stage> {
  const anvil = await startAnvil({ args: ['--no-mining'] });
  const endpoint = await startRpcDouble(answersOf(anvil));
  const workspace = await createWorkspace({ rpcUrl: endpoint.url });
  t.teardown(() => Promise.all([anvil.stop(), endpoint.stop(), workspace.remove()]));
  await anvil.rpc('anvil_setBalance', [workspace.address, '0xde0b6b3a7640000']);
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  return {
    anvil,
    endpoint,
    service,
    async send() {
      const { status, body } = await service.request('POST', `${RELAYER}/transactions`, TRANSFER);
      if (status !== 200) throw new Error(`not accepted: ${JSON.stringify(body)}`);
      return body.data.id;
    },
    statusOf: async (id) => (await service.request('GET', `${RELAYER}/transactions/${id}`)).body.data.status,
    async until(what, holds) {
      const end = performance.now() + 30_000;
      while (!(await holds())) {
        if (performance.now() > end) throw new Error(`not within 30 s: ${what}\n${service.output().slice(-3000)}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  };
}

async function refusesAll(t: Test, { service }: Stage, transaction: string, message: string): Promise<void> {
  for (const [method, path, body] of ACTING) {
    const answer = await service.request(method, `${RELAYER}${path.replace(':transaction', transaction)}`, body);
    t.equal(answer.status, 403, `${method} ${path}`);
    t.match(answer.body, { success: false, data: null, message }, `${method} ${path}`);
  }
  for (const path of READING) {
    const answer = await service.request('GET', `${RELAYER}${path.replace(':transaction', transaction)}`);
    t.equal(answer.status, 200, `GET ${path}`);
  }
}

t.test('paused, disabled, both: what acts is refused, what reads is not, what was taken before goes on', async (t) => {
  const scene = await stage(t);
  const { anvil, endpoint, service, send, statusOf, until } = scene;
  const sent = await send();
  await until('it is with the node', async () => (await statusOf(sent)) === 'submitted');
  // This transaction stays unsigned, because the node reports no price.
  const well = answersOf(anvil);
  endpoint.answer((call) =>
    /eth_sendRawTransaction|eth_feeHistory|eth_gasPrice/.test(call.method) ? 'hang-up' : well(call),
  );
  const waiting = await send();

  const paused = await service.request('PATCH', RELAYER, { paused: true });
  t.match(paused, { status: 200, body: { data: { paused: true, system_disabled: false } } });
  await refusesAll(t, scene, sent, 'Relayer paused');
  endpoint.answer(well);
  await until('what waited is with the node', async () => (await statusOf(waiting)) === 'submitted');

  const poor = await service.request('PATCH', RELAYER, {
    paused: false,
    policies: { min_balance: '1000000000000000000000' },
    custom_rpc_urls: [{ url: `${endpoint.url}/own`, weight: 100 }],
  });
  t.equal(poor.status, 200);
  const view = async () => (await service.request('GET', RELAYER)).body.data;
  await until('it is disabled', async () => (await view()).system_disabled === true);
  t.match((await view()).disabled_reason, {
    type: 'BalanceCheckFailed',
    details: /^Insufficient balance: 0x\w+ has \d+ wei, min_balance asks for 1000000000000000000000$/,
    next_check_at: /^20/,
  });
  await refusesAll(t, scene, sent, 'Relayer disabled');
  await anvil.rpc('anvil_mine', ['0x1']);
  await until('both are in a block', async () => /mined|confirmed/.test(await statusOf(waiting)));
  await anvil.rpc('anvil_mine', ['0x2']);
  for (const id of [sent, waiting]) {
    await until('it is confirmed', async () => (await statusOf(id)) === 'confirmed');
  }
  t.match((await service.request('GET', `${RELAYER}/status`)).body.data, {
    system_disabled: true,
    pending_transactions_count: 0,
    nonce: '2',
  });

  await service.request('PATCH', RELAYER, { paused: true });
  await refusesAll(t, scene, sent, 'Relayer paused');
  const repaired = await service.request('PATCH', RELAYER, { paused: false, policies: { min_balance: '1' } });
  t.equal(repaired.status, 200);
  await until('it is enabled', async () => (await view()).system_disabled === false);
  t.notOk('disabled_reason' in (await view()));
  t.equal((await service.request('POST', `${RELAYER}/transactions`, TRANSFER)).status, 200);
});

t.test('before the first contact with its network, every view says that it takes nothing yet', async (t) => {
  const anvil = await startAnvil();
  t.teardown(() => anvil.stop());
  const well = answersOf(anvil);
  const reached = Promise.withResolvers<void>();
  const endpoint = await startRpcDouble(async (call) => {
    await reached.promise;
    return well(call);
  });
  t.teardown(() => endpoint.stop());
  const workspace = await createWorkspace({ rpcUrl: endpoint.url });
  t.teardown(() => workspace.remove());
  await anvil.rpc('anvil_setBalance', [workspace.address, '0xde0b6b3a7640000']);
  // The start waits for the first checks; this one does not.
  const service = await composeService(workspace.env, { firstCheckMs: 1 });
  t.teardown(() => service.stop());
  const get = async (path: string) => (await service.request('GET', path)).body.data;
  const disabled = {
    system_disabled: true,
    disabled_reason: { type: 'RpcValidationFailed', details: /^network \w+ was not reached yet$/ },
  };
  t.match(await service.request('POST', `${RELAYER}/transactions`, TRANSFER), {
    status: 403,
    body: { message: /^Relayer disabled/, error: /was not reached yet/ },
  });
  t.match(await get(RELAYER), disabled);
  t.match(await get('/api/v1/relayers'), [disabled]);
  t.match(await get('/api/v1/relayers?state=disabled'), [disabled]);
  t.match((await service.request('PATCH', RELAYER, { name: 'Renamed' })).body.data, { name: 'Renamed', ...disabled });
  reached.resolve();
  t.match(await get(`${RELAYER}/status`), { paused: false });
  await eventually(
    () => get(RELAYER),
    (view) => view.system_disabled === false,
  );
  t.notOk('disabled_reason' in (await get(RELAYER)));
  t.equal((await service.request('POST', `${RELAYER}/transactions`, TRANSFER)).status, 200);
  t.notMatch(service.output(), /relayer (still )?disabled|relayer enabled/, 'nothing was disabled, so nothing is told');
});
