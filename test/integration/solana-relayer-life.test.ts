/** What is looked at before a Solana relayer works, and what webhooks are told of the methods that sign. */
import { Keypair } from '@solana/web3.js';
import t from 'tap';
import type { WireObject } from '../../src/domain/json/json.ts';
import { writeJson } from '../../src/domain/json/json-text.ts';
import { SolanaScenario } from '../support/solana-scenario.ts';
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
    ...{ amount: 3, token: token ?? '', source: source ?? '', destination: destination ?? '' },
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
      details: `Policies do not fit the network: allowed_programs: ${gone} is not on this network; correct it, or take it out; allowed_tokens: ${gone} is no token on this network; correct it, or take it out`,
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
