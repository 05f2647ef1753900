/**
 * Threat: a plugin call is repeated under its key, and pays again because the world has changed since the first run: a
 * paused relayer is back, the budget is free again, or a value is another one. On the real server, each call pays once.
 * A repeat hears the same as the first run until its last effect, including refusals.
 */
import t, { type Test } from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { eventually } from '../support/eventually.ts';
import { hostileHttp, plain } from '../support/hostile-http.ts';
import type { AnswerBody } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

/** Asks the test's server what to do next. A GET does not count as an effect. */
const PLUGIN = `
const RECEIVER = '0x00000000000000000000000000000000000abcde';
export async function handler({ api, params }) {
  const { base, name, does } = params;
  const ask = async (what) => (await fetch(base + '/' + what + '?' + name)).text();
  const send = async (relayer, value = 7) => {
    const transfer = { to: RECEIVER, value: String(value), data: '0x', gas_limit: 21000, speed: 'fast' };
    return (await api.useRelayer(relayer).sendTransaction(transfer)).id;
  };
  const ids = [];
  const told = [];
  if (does === 'insist') {
    while (ids.length === 0) {
      try { ids.push(await send(params.relayer)); }
      catch (error) { told.push({ message: error.message, code: error.code, status: error.status }); await ask('refused'); }
    }
  }
  if (does === 'fall back') {
    try { ids.push(await send(params.relayer)); }
    catch (error) { told.push(error.message); ids.push(await send(params.other)); }
  }
  if (does === 'at once') {
    const values = (await ask('order')) === 'forth' ? [1, 2, 3] : [3, 2, 1];
    ids.push(...(await Promise.all(values.map((value) => send(params.relayer, value)))).sort());
  }
  if (does === 'differ') ids.push(await send(params.relayer, Number(await ask('value'))));
  if ((await ask('end')) === 'fail') throw new Error('after all');
  return { ids, told };
}`;

/** Relayers on one account. Each scene has its own relayer. */
const RELAYERS = ['paused', 'falling', 'other', 'parallel', 'differing'];

async function setUp(t: Test) {
  const answers = new Map([
    ['/end', 'fail'],
    ['/order', 'forth'],
    ['/value', '1'],
  ]);
  const server = await hostileHttp(
    t,
    Object.fromEntries(
      ['/end', '/order', '/value', '/refused'].map((path) => [
        path,
        (_request, socket) => socket.write(plain(answers.get(path) ?? '')),
      ]),
    ),
  );
  const anvil = await startAnvil({ blockTime: 0.1 });
  t.teardown(() => anvil.stop());
  const relayer = { network: 'local', network_type: 'evm', signer_id: 'local-key', paused: false };
  const workspace = await createWorkspace({
    rpcUrl: anvil.url,
    config: { relayers: RELAYERS.map((id) => ({ ...relayer, id, name: id })) },
    pluginFiles: { 'pays.ts': PLUGIN },
    plugins: [
      {
        id: 'pays',
        path: 'pays.ts',
        permissions: {
          relayers: Object.fromEntries(RELAYERS.map((id) => [id, ['read', 'send']])),
          hosts: [{ host: server.host, private: true }],
        },
        limits: { slice_ms: 10_000, cpu_ms: 20_000 },
      },
    ],
  });
  t.teardown(() => workspace.remove());
  await anvil.rpc('anvil_setBalance', [workspace.address, `0x${(10n ** 20n).toString(16)}`]);
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  const call = async (name: string, params: object) => {
    const response = await fetch(`${service.url}/api/v1/plugins/pays/call`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': name,
      },
      body: JSON.stringify({ params: { base: `http://${server.host}`, name, ...params } }),
    });
    return { status: response.status, body: (await response.json()) as AnswerBody };
  };
  const pause = async (id: string, paused: boolean) => {
    const { status } = await service.request('PATCH', `/api/v1/relayers/${id}`, { paused });
    if (status !== 200) throw new Error(`not changed: ${status}`);
  };
  const sent = async (id: string): Promise<string[]> => {
    const { body } = await service.request('GET', `/api/v1/relayers/${id}/transactions`);
    return body.data.map((one: { id: string }) => one.id).sort();
  };
  return { service, server, answers, call, pause, sent };
}

t.test('what a repeat of a plugin call finds', async (t) => {
  const { service, server, answers, call, pause, sent } = await setUp(t);

  await t.test('a payment that was refused before it was made is not made again', async (t) => {
    await pause('paused', true);
    const params = { does: 'insist', relayer: 'paused' };
    const first = call('insists', params);
    const refusals = () => server.seen.filter(({ line }) => line.includes('/refused?insists')).length;
    await eventually(refusals, (count) => count >= 2);
    await pause('paused', false);
    t.equal((await first).status, 500);
    const [id, ...more] = await sent('paused');
    t.same(more, [], 'one payment');

    answers.set('/end', 'return');
    const again = await call('insists', params);
    t.match(again, { status: 200, body: { data: { ids: [id] } } });
    const { told } = again.body.data;
    t.ok(told.length >= 2, 'it was refused as before');
    t.ok(told.every(({ message }: { message: string }) => message === 'Relayer error: Relayer is paused'));
    t.same(await sent('paused'), [id]);
  });

  await t.test('a repeat pays through the relayer that was used before, not the one that refused', async (t) => {
    answers.set('/end', 'fail');
    await pause('falling', true);
    const params = { does: 'fall back', relayer: 'falling', other: 'other' };
    t.equal((await call('falls-back', params)).status, 500);
    await pause('falling', false);
    answers.set('/end', 'return');
    const ids = await sent('other');
    t.equal(ids.length, 1);
    t.match(await call('falls-back', params), { status: 200, body: { data: { ids } } });
    t.same([await sent('falling'), await sent('other')], [[], ids]);
  });

  await t.test('parallel payments in another order are the same payments', async (t) => {
    answers.set('/end', 'fail');
    const params = { does: 'at once', relayer: 'parallel' };
    t.equal((await call('at-once', params)).status, 500);
    answers.set('/end', 'return').set('/order', 'back');
    const ids = await sent('parallel');
    t.equal(ids.length, 3);
    t.match(await call('at-once', params), { status: 200, body: { data: { ids } } });
    t.same(await sent('parallel'), ids);
  });

  await t.test(
    'a payment depends on what the first run heard, also where another would hear something else',
    async (t) => {
      answers.set('/end', 'fail');
      const params = { does: 'differ', relayer: 'differing' };
      t.equal((await call('differs', params)).status, 500);
      answers.set('/end', 'return').set('/value', '2');
      const ids = await sent('differing');
      t.equal(ids.length, 1);
      t.match(await call('differs', params), { status: 200, body: { data: { ids } } });
      t.same(await sent('differing'), ids);
    },
  );

  await t.test('where nothing has happened yet, the key is free for another try', async (t) => {
    answers.set('/end', 'return');
    await pause('falling', true);
    await pause('other', true);
    const params = { does: 'fall back', relayer: 'falling', other: 'other' };
    t.match(await call('later', params), { status: 500, body: { error: 'Relayer error: Relayer is paused' } });
    await pause('other', false);
    const before = (await sent('other')).length;
    t.equal((await call('later', params)).status, 200);
    t.equal((await sent('other')).length, before + 1);
  });
  const errors = service
    .output()
    .split('\n')
    .filter((line) => line.includes('"level":"error"'));
  t.same(
    errors.filter((line) => !/Uncaught Error: (after all|Relayer error)/.test(line)),
    [],
    "only the plugin's own",
  );
});
