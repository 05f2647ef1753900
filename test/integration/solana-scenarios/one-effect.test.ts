/**
 * After a lost answer, a crash or a second check, no transaction runs twice, and none that landed is reported as
 * failed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Keypair, NONCE_ACCOUNT_LENGTH, NonceAccount, SystemProgram } from '@solana/web3.js';
import t from 'tap';
import { CRASH_POINTS } from '../../../src/engine/lane/lane-step.ts';
import { SolanaScenario } from '../../support/solana-scenario.ts';
import { anyone, startSvmScene, transfer } from '../../support/svm-scene.ts';

const scene = await startSvmScene();
const { svm, connection, funded } = scene;
t.teardown(() => svm.stop());

t.test('an answer that is lost after the bytes landed changes nothing', async (t) => {
  const scenario = await SolanaScenario.open(t, scene);
  await svm.fault({ methods: ['sendTransaction'], times: 2, act: { kind: 'cut' } });
  await scenario.start();
  const id = await scenario.send();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);
  t.equal((await scenario.attempts(id)).length, 1);
});

t.test('whenever the process dies, what it signed is what its successor offers', async (t) => {
  for (const step of CRASH_POINTS.filter(
    (one) => !['intent-read', 'further-signed', 'further-written', 'reserved'].includes(one),
  )) {
    const scenario = await SolanaScenario.open(t, scene);
    await scenario.start({ diesAt: step });
    const id = await scenario.send();
    await scenario.until(`dead at ${step}`, () => scenario.isDead, { mining: step === 'settled' });
    await scenario.start();
    await scenario.untilStatus(id, 'confirmed', { mining: true });
    t.equal(await scenario.executions(id), 1, step);
  }
});

t.test('what died before the bytes left is signed anew once, however often the process ends', async (t) => {
  const scenario = await SolanaScenario.open(t, scene);
  await svm.dropNext(1_000);
  await scenario.start();
  const id = await scenario.send();
  await scenario.untilStatus(id, 'submitted');
  scenario.crash();
  await svm.dropNext(0);
  await scenario.lapse();
  await scenario.start({ diesAt: 'written' });
  await scenario.until('dead', () => scenario.isDead);
  await scenario.start();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);
});

t.test('while the history does not answer nothing is signed anew, whatever is said of the blockhash', async (t) => {
  const scenario = await SolanaScenario.open(t, scene);
  await scenario.start();
  await svm.landLater(3);
  const id = await scenario.send();
  await scenario.untilStatus(id, 'submitted');
  await svm.fault({
    methods: ['getSignatureStatuses'],
    act: { kind: 'error', code: -32_603, message: 'Internal error' },
  });
  await svm.tick(5);
  await svm.landLater(0);
  await scenario.lapse();
  await sleep(500);
  t.equal((await scenario.attempts(id)).length, 1);
  t.equal((await scenario.get(id)).status, 'submitted');
  await svm.clearFaults();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);
});

t.test('a node whose history was pruned proves nothing', async (t) => {
  const node = await svm.endpoint();
  const scenario = await SolanaScenario.open(t, scene, { urls: [node.url] });
  await scenario.start();
  const id = await scenario.send();
  await scenario.untilStatus(id, 'submitted');
  await scenario.stop();
  await svm.tick(5);
  await node.pruneHistory();
  await scenario.lapse();
  await scenario.start();
  await sleep(500);
  t.equal((await scenario.attempts(id)).length, 1);
  t.equal((await scenario.get(id)).status, 'submitted');
  t.equal(await scenario.executions(id), 1);
});

t.test('an end by time waits for the last block that could take the transaction', async (t) => {
  const scenario = await SolanaScenario.open(t, scene);
  await scenario.start();
  // 120 blocks are more than come before `valid_until`, and fewer than its blockhash is valid for.
  await svm.landLater(120);
  const landing = await scenario.send({ valid_until: new Date(Date.now() + 3_000).toISOString() });
  await scenario.untilStatus(landing, 'submitted');
  scenario.pass(5_000);
  await scenario.until('withdrawn', async () => {
    await svm.tick();
    await sleep(50);
    return (await scenario.get(landing)).noopEnd === 'expired';
  });
  await svm.landLater(0);
  await scenario.untilStatus(landing, 'confirmed', { mining: true });
  t.equal(await scenario.executions(landing), 1);
});

t.test('an end by time without a block that takes the transaction is expired, and not before', async (t) => {
  const scenario = await SolanaScenario.open(t, scene);
  await scenario.start();
  await svm.dropNext(1_000);
  const lost = await scenario.send({ valid_until: new Date(Date.now() + 3_000).toISOString() });
  await scenario.untilStatus(lost, 'submitted');
  scenario.pass(5_000);
  await scenario.until('withdrawn', async () => {
    await svm.tick();
    await sleep(50);
    return (await scenario.get(lost)).noopEnd === 'expired';
  });
  t.equal((await scenario.get(lost)).status, 'submitted');
  await svm.dropNext(0);
  await scenario.lapse();
  await scenario.untilStatus(lost, 'expired');
  t.equal(await scenario.executions(lost), 0);
});

t.test('without a node no transaction ends, however long it lasts', async (t) => {
  const scenario = await SolanaScenario.open(t, scene);
  await scenario.start();
  const id = await scenario.send({ valid_until: new Date(Date.now() + 60_000).toISOString() });
  await scenario.untilStatus(id, 'submitted');
  await svm.tick();
  await svm.fault({ act: { kind: 'http', status: 503 } });
  scenario.pass(3_600_000);
  await sleep(500);
  t.equal((await scenario.get(id)).status, 'submitted');
  await svm.clearFaults();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);
});

t.test('a canceled transaction is offered no more and ends when it is dead, or as it landed', async (t) => {
  const scenario = await SolanaScenario.open(t, scene);
  await scenario.start();
  await svm.dropNext(1_000);
  const dropped = await scenario.send();
  await scenario.untilStatus(dropped, 'submitted');
  await scenario.cancel(dropped);
  await svm.dropNext(0);
  const offers = (await svm.offers()).length;
  await sleep(700);
  t.equal((await svm.offers()).length, offers);
  t.equal((await scenario.get(dropped)).status, 'submitted');
  await scenario.lapse();
  await scenario.untilStatus(dropped, 'canceled');
  t.equal(await scenario.executions(dropped), 0);

  const landed = await scenario.send();
  await scenario.untilStatus(landed, 'submitted');
  await scenario.cancel(landed);
  await scenario.untilStatus(landed, 'confirmed', { mining: true });
});

t.test('what a fork took back is offered again and lands once', async (t) => {
  const scenario = await SolanaScenario.open(t, scene);
  await scenario.start();
  const id = await scenario.send();
  await scenario.untilStatus(id, 'submitted');
  await svm.tick(2);
  await scenario.untilStatus(id, 'mined');
  await svm.fork(2);
  await scenario.untilStatus(id, 'submitted');
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await scenario.executions(id), 1);
  t.equal((await scenario.attempts(id)).length, 1);
});

t.test('what is in a block stays so while no node answers', async (t) => {
  const scenario = await SolanaScenario.open(t, scene);
  await scenario.start();
  const id = await scenario.send();
  await scenario.untilStatus(id, 'submitted');
  await svm.tick(2);
  await scenario.untilStatus(id, 'mined');
  await svm.fault({ act: { kind: 'http', status: 503 } });
  await sleep(300);
  t.equal((await scenario.get(id)).status, 'mined');
  await svm.clearFaults();
  await scenario.untilStatus(id, 'confirmed', { mining: true });
});

t.test('a transaction under a durable nonce waits for its nonce, not for a time', async (t) => {
  const { nonce, advance } = await durableNonce();
  const scenario = await SolanaScenario.open(t, scene);
  await scenario.start();
  const [user, to] = [await funded(), anyone()];
  const pay = async () => scenario.sendUnderNonce(await nonce(), [user], transfer(user, to, 5_000_000));
  const landing = await pay();
  await scenario.lapse();
  await scenario.untilStatus(landing, 'confirmed', { mining: true });
  t.equal(await connection.getBalance(to), 5_000_000);

  await svm.dropNext(1_000);
  const lost = await pay();
  await scenario.untilStatus(lost, 'submitted');
  await scenario.lapse();
  t.equal((await scenario.get(lost)).status, 'submitted');
  await scenario.stop();
  await svm.dropNext(0);
  await advance();
  await svm.tick(5);
  await scenario.start();
  await scenario.untilStatus(lost, 'failed');
  t.match((await scenario.get(lost)).statusReason, /was advanced by another transaction/);
  t.equal(await connection.getBalance(to), 5_000_000);
});

/** A nonce account of another owner, with its state and a function that advances it. */
async function durableNonce() {
  const [owner, account] = [await funded(), Keypair.generate()];
  await svm.tick();
  const lamports = await connection.getMinimumBalanceForRentExemption(NONCE_ACCOUNT_LENGTH);
  const creation = SystemProgram.createNonceAccount({
    fromPubkey: owner.publicKey,
    noncePubkey: account.publicKey,
    authorizedPubkey: owner.publicKey,
    lamports,
  });
  await scene.land(await scene.signed([owner, account], ...creation.instructions));
  const parameters = { noncePubkey: account.publicKey, authorizedPubkey: owner.publicKey };
  return {
    nonce: async () => {
      const info = await connection.getAccountInfo(account.publicKey);
      if (info === null) throw new Error('no nonce account');
      return {
        owner,
        instruction: SystemProgram.nonceAdvance(parameters),
        value: NonceAccount.fromAccountData(info.data).nonce,
      };
    },
    advance: async () => scene.land(await scene.signed([owner], SystemProgram.nonceAdvance(parameters))),
  };
}
