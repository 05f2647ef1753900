/** The checks before a Solana relayer works, and the webhooks about methods that sign. */
import { Keypair } from '@solana/web3.js';
import t from 'tap';
import type { WireObject } from '../../src/domain/json/json.ts';
import { writeJson } from '../../src/domain/json/json-text.ts';
import { SolanaScenario } from '../support/solana-scenario.ts';
import { memo, solanaStage } from '../support/solana-stage.ts';
import { DOUBLE_MARKET } from '../support/sponsor-scene.ts';
import { notificationOf } from '../support/store.ts';
import { startSvmScene } from '../support/svm-scene.ts';
import { makeToken } from '../support/token-scene.ts';

const scene = await startSvmScene();
t.teardown(() => scene.svm.stop());

t.test('each method that signs is told with its answer, and what only tells is not', async (t) => {
  const scenario = await SolanaScenario.open(t, scene, { market: DOUBLE_MARKET });
  const { store } = scenario;
  await store.write(async (writer) => {
    await writer.putNotification(notificationOf({ id: 'n1' }));
    const relayer = await writer.relayer('r1');
    if (relayer !== undefined) await writer.putRelayer({ ...relayer, notificationId: 'n1' });
  });
  await scenario.start();
  const usd = await makeToken(scene);
  const [from, to] = [Keypair.generate().publicKey, Keypair.generate().publicKey];
  for (const wallet of [from, to]) await usd.give(wallet, 10n);
  const [token, source, destination] = [usd.mint, from, to].map((key) => key.toBase58());

  const answers = new Map<string, unknown>();
  const call = async (event: string, method: string, params: Parameters<SolanaScenario['call']>[1]) => {
    const { result } = await scenario.call(method, params);
    const { method: name, ...answer } = result as { method: string };
    t.equal(name, method);
    answers.set(event, { payload_type: 'solana_rpc', ...answer });
  };
  await call('transfer_transaction', 'transferTransaction', {
    amount: 3,
    token: token ?? '',
    source: source ?? '',
    destination: destination ?? '',
  });
  await call('sign_transaction', 'signTransaction', { transaction: await scenario.builtMemo('one') });
  const sent = { transaction: await scenario.builtMemo('two') };
  await call('sign_and_send_transaction', 'signAndSendTransaction', sent);
  await scenario.call('signAndSendTransaction', sent);
  t.match(await scenario.call('signTransaction', { transaction: 'AAAA' }), { error: { code: -32_601 } });
  await scenario.call('getFeaturesEnabled', {});

  const events = await store.write((writer) => writer.claimEvents('n1', 100, 1_000));
  const told = events.filter(({ subject }) => subject.startsWith('call:'));
  t.strictSame(
    Object.fromEntries(told.map(({ event, body }) => [event, JSON.parse(body).payload])),
    JSON.parse(writeJson(Object.fromEntries(answers) as WireObject)),
  );
  t.equal(told.length, answers.size, 'each is told once');
});

t.test(
  'a program or a token that is not on the network disables the relayer, until the policies are corrected',
  async (t) => {
    const gone = Keypair.generate().publicKey.toBase58();
    const scenario = await SolanaScenario.open(t, scene, {
      policies: { allowed_programs: [gone], allowed_tokens: [{ mint: gone }] },
    });
    const { store } = scenario;
    await scenario.start();
    const disabled = async () => (await store.read.relayer('r1'))?.disabledReason ?? null;
    await scenario.until('disabled', async () => (await disabled()) !== null);
    t.match(await disabled(), {
      type: 'PolicyCheckFailed',
      details: `Policies do not fit the network: allowed_programs: ${gone} is not on this network; correct it, or remove it; allowed_tokens: ${gone} is not a token on this network; correct it, or remove it`,
    });
    const usd = await makeToken(scene);
    const known = { allowed_programs: [usd.program.toBase58()], allowed_tokens: [{ mint: usd.mint.toBase58() }] };
    await store.write(async (writer) => {
      const relayer = await writer.relayer('r1');
      if (relayer !== undefined) await writer.putRelayer({ ...relayer, policies: known });
    });
    await scenario.until('enabled', async () => (await disabled()) === null);
    t.equal(await disabled(), null);
  },
);

t.test('a relayer that is drained is disabled with the reason, and goes on when it is funded', async (t) => {
  const scenario = await SolanaScenario.open(t, scene, { timing: { healthMs: 300, confirmMs: 50 } });
  const reason = async () => (await scenario.store.read.relayer('r1'))?.disabledReason ?? null;
  await scenario.start();
  await scenario.untilStatus(await scenario.send(), 'confirmed', { mining: true });
  t.equal(await reason(), null);
  await scene.svm.setAccount(scenario.address, { lamports: 2_000_000n, data: Buffer.alloc(0), owner: '1'.repeat(32) });
  const id = await scenario.send();
  await scenario.until('disabled', async () => (await reason()) !== null);
  t.match(await reason(), { type: 'BalanceCheckFailed', details: /2000000/ });
  t.match(await scenario.get(id), { status: 'pending', statusReason: /Insufficient relayer balance/ });
  t.match(await scenario.send().catch(({ code }) => code), 'RELAYER_DISABLED');
  await scene.svm.airdrop(scenario.address, 1_000_000_000n);
  await scenario.until('enabled', async () => (await reason()) === null);
  scenario.pass(60_000);
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);
});

t.test('a relayer that is made while no node answers is there whole, and disabled with the reason', async (t) => {
  const { service, svm, send, tickUntil } = await solanaStage(t, {}, { accounts: 2 });
  t.equal((await service.request('DELETE', '/api/v1/relayers/local-2')).status, 200);
  await svm.fault({ act: { kind: 'error', code: -32_603, message: 'Internal error' } });
  const body = {
    id: 'made',
    name: 'Made',
    network: 'local',
    network_type: 'solana',
    paused: false,
    signer_id: 'local-key-2',
    policies: { fee_payment_strategy: 'relayer' },
  };
  const { status, body: answer } = await service.request('POST', '/api/v1/relayers', body);
  t.match([status, answer.error, answer.data], [201, null, { id: 'made', network_type: 'solana' }]);
  const made = async () => (await service.request('GET', '/api/v1/relayers/made')).body.data;
  while ((await made()).disabled_reason === undefined) await new Promise((resolve) => setTimeout(resolve, 50));
  t.match(await made(), { system_disabled: true, disabled_reason: { details: [{ details: /Internal error/ }, {}] } });
  await svm.clearFaults();
  t.equal((await service.request('DELETE', '/api/v1/relayers/made')).status, 200);
  await tickUntil(await send({ instructions: [memo('the other goes on')] }), 'confirmed');
});
