/**
 * Threat: a database is put back to an earlier moment, as a disk snapshot or a copied file does. Payments that wait
 * there, accepted and not signed, were made since then. Whoever sends them again pays twice. The chain is the witness:
 * it shows what the account itself has done.
 */
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Keypair as SolanaKeypair } from '@solana/web3.js';
import { Keypair } from '@stellar/stellar-sdk';
import { Wallet } from 'ethers';
import t, { type Test } from 'tap';
import { startSvm } from '../doubles/svm/svm.ts';
import { composeService } from '../support/composed-service.ts';
import { TRANSFER } from '../support/instances.ts';
import type { FrontRule } from '../support/node-front.ts';
import { CHEAP, DEAR, LIMIT_MS, RestoredScene } from '../support/restored-scene.ts';
import { startService } from '../support/service.ts';
import { memo } from '../support/solana-stage.ts';
import { LUMEN, startStellarScene } from '../support/stellar-scene.ts';
import { payment } from '../support/stellar-stage.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

const FIVE = [1, 2, 3, 4, 5].map((value) => ({ ...TRANSFER, value: String(value) }));

t.test('payments of a restored data folder that were made since are taken as made', async (t) => {
  const scene = await RestoredScene.open(t);
  await scene.service.end();
  const killed = await startService(scene.workspace.env);
  scene.service = killed;
  const ids = await scene.waiting(FIVE);
  await scene.snapshot();
  await scene.policies(CHEAP);
  const made = await scene.confirmed(ids);
  t.equal(await scene.received(), 15n);

  await killed.kill();
  await scene.putBack();
  await scene.start();
  await scene.policies(CHEAP);
  t.strictSame(await scene.confirmed(ids), made);
  t.equal(await scene.received(), 15n, 'none is paid again');
  const events = (await scene.service.request('GET', `/api/v1/relayers/local-1/transactions/${ids[0]}/timeline`)).body;
  t.match(JSON.stringify(events.data), /"decision":"adopted".*is taken as this payment/);
  await scene.confirmed([await scene.accept()]);
  t.equal(await scene.received(), 22n);
});

t.test('of equal payments as many are taken as made as were made, whatever else used the key', async (t) => {
  const scene = await RestoredScene.open(t);
  const ids = await scene.waiting([TRANSFER, TRANSFER, TRANSFER, TRANSFER, TRANSFER]);
  await scene.snapshot();
  for (const id of ids.slice(3)) {
    await scene.service.request('DELETE', `/api/v1/relayers/local-1/transactions/${id}`);
    await scene.untilStatus(id, 'canceled');
  }
  await scene.policies(CHEAP);
  await scene.confirmed(ids.slice(0, 3));
  const other = Wallet.createRandom().address;
  await scene.sendBesides(other, 7n);
  t.equal(await scene.received(), 21n);

  await scene.putBack();
  await scene.start();
  await scene.policies(CHEAP);
  const hashes = await scene.confirmed(ids);
  t.equal(new Set(hashes).size, 5);
  t.equal(await scene.received(), 35n, 'two more are paid, and no third');
});

/** A node without old states and without the content of blocks. */
const pruned: FrontRule = ({ method, params }) => {
  if (method === 'eth_getBlockByNumber' && params[1] === true) return { result: null };
  const isState = method === 'eth_getTransactionCount' && String(params[1]).startsWith('0x');
  return isState ? { error: { code: -32_000, message: 'missing trie node' } } : undefined;
};

for (const [answer, status, paid] of [
  ['--fail-unsigned', 'failed', 15n],
  ['--send-unsigned', 'confirmed', 30n],
] as const) {
  t.test(`what cannot be looked through waits for an operator, alone; ${answer}`, async (t) => {
    const scene = await RestoredScene.open(t, { accounts: 2 });
    const ids = await scene.waiting(FIVE);
    await scene.policies(DEAR, 'local-2');
    const beside = await scene.accept({ ...TRANSFER, to: Wallet.createRandom().address }, 'local-2');
    await scene.snapshot();
    await scene.policies(CHEAP);
    await scene.confirmed(ids);

    scene.front.rule(pruned);
    await scene.putBack();
    await scene.start();
    await scene.policies(CHEAP);
    await scene.policies(CHEAP, 'local-2');
    for (const id of ids) {
      const { status, status_reason: reason } = await scene.until(id, (data) => /restore/.test(data.status_reason));
      t.equal(status, 'pending');
      t.match(reason, /may have been sent already.*restore --fail-unsigned.*--send-unsigned/);
    }
    // Nobody knows yet whether it was paid, so a client's word does not end it.
    await scene.service.request('DELETE', `/api/v1/relayers/local-1/transactions/${ids[0]}`);
    await scene.untilStatus(beside, 'confirmed', 'local-2');
    const path = `/api/v1/relayers/local-1/transactions/${ids[0]}/timeline`;
    const isRefused = async () =>
      /cancel_refused/.test(JSON.stringify((await scene.service.request('GET', path)).body.data));
    while (!(await isRefused())) await delay(50);
    t.equal((await scene.get(ids[0] ?? '')).status, 'pending');
    await scene.confirmed([await scene.accept({ ...TRANSFER, to: Wallet.createRandom().address })]);
    t.equal(await scene.received(), 15n);

    await scene.service.end();
    t.match(await scene.typed('restore', answer), { code: 0 });
    await scene.start();
    await scene.policies(CHEAP);
    for (const id of ids) await scene.untilStatus(id, status);
    t.equal(await scene.received(), paid);
  });
}

t.test('what waits to be compared is compared after another restart too, whatever was paid between', async (t) => {
  const scene = await RestoredScene.open(t);
  const ids = await scene.waiting(FIVE);
  await scene.snapshot();
  await scene.policies(CHEAP);
  const made = await scene.confirmed(ids);

  scene.front.rule(pruned);
  await scene.putBack();
  await scene.start();
  for (const id of ids) await scene.until(id, (data) => /restore/.test(data.status_reason));
  await scene.policies(CHEAP);
  // Takes the nonce after those of the five, so that the database now leads to all that the chain counts.
  await scene.confirmed([await scene.accept({ ...TRANSFER, to: Wallet.createRandom().address })]);

  await scene.service.end();
  scene.front.rule();
  await scene.start();
  await scene.policies(CHEAP);
  t.strictSame(await scene.confirmed(ids), made);
  t.equal(await scene.received(), 15n, 'none is paid again');
  await scene.confirmed([await scene.accept()]);
  t.equal(await scene.received(), 22n);
});

t.test('a database alone, older than the mark in the data folder, is compared when the operator says so', async (t) => {
  const scene = await RestoredScene.open(t);
  const ids = await scene.waiting(FIVE);
  await scene.snapshot();
  await scene.policies(CHEAP);
  const made = await scene.confirmed(ids);

  await scene.putBack('database');
  await t.rejects(scene.start(), { message: /a backup was put back[^]*restore --compare-unsigned/ });
  t.match(await scene.typed('restore', '--compare-unsigned'), { code: 0 });
  await scene.start();
  await scene.policies(CHEAP);
  t.strictSame(await scene.confirmed(ids), made);
  t.equal(await scene.received(), 15n);
});

t.test('a payment whose dearer attempt the database has forgotten does not end as failed', async (t) => {
  const scene = await RestoredScene.open(t);
  await scene.confirmed([await scene.accept()]);
  await scene.anvil.rpc('evm_setAutomine', [false]);
  await scene.anvil.rpc('evm_setIntervalMining', [0]);
  const id = await scene.accept({ ...TRANSFER, value: '9' });
  const { hash } = await scene.untilStatus(id, 'submitted');
  await scene.snapshot();
  const replaced = await scene.service.request('PUT', `/api/v1/relayers/local-1/transactions/${id}`, {
    ...TRANSFER,
    value: '9',
    speed: undefined,
    max_fee_per_gas: 90_000_000_000,
    max_priority_fee_per_gas: 30_000_000_000,
  });
  t.equal(replaced.status, 200);
  const dearer = await scene.until(id, (data) => data.hash !== hash && data.status === 'submitted');
  await scene.anvil.rpc('evm_setIntervalMining', [1]);
  await scene.confirmed([id]);

  await scene.putBack();
  await scene.start();
  t.strictSame(await scene.confirmed([id]), [dearer.hash]);
  t.equal(await scene.received(), 16n);
});

/** What a family's test needs of its network and of its requests. */
interface Family {
  workspace: Workspace;
  /** Lets the service prepare nothing, or everything again. */
  hold(isHeld: boolean): Promise<void>;
  /** How often each of the payments was made. */
  payments(): Promise<number[]>;
  body(index: number): object;
}

/** Five payments wait, three equal ones among them. Three are made, then the data folder is put back. */
async function putBackOnce(t: Test, { workspace, hold, payments, body }: Family): Promise<void> {
  const path = '/api/v1/relayers/local-1/transactions';
  let service = await composeService(workspace.env);
  t.teardown(() => service.end());
  const get = async (id: string) => (await service.request('GET', `${path}/${id}`)).body.data;
  const untilAll = async (ids: readonly string[], status: string) => {
    const end = Date.now() + LIMIT_MS;
    for (const id of ids) {
      while ((await get(id)).status !== status) {
        if (Date.now() > end) throw new Error(`${JSON.stringify(await get(id))}\n${service.output().slice(-4000)}`);
        await delay(50);
      }
    }
    const all = await Promise.all(ids.map(get));
    return all.map(({ hash, signature }) => hash ?? signature);
  };
  const accept = async (index: number): Promise<string> => {
    const answer = await service.request('POST', path, body(index));
    if (answer.status !== 200) throw new Error(`not accepted: ${JSON.stringify(answer.body)}`);
    return answer.body.data.id;
  };
  await untilAll([await accept(0)], 'confirmed');
  await hold(true);
  const ids: string[] = [];
  for (const index of [1, 1, 1, 2, 3]) ids.push(await accept(index));
  const copy = join(workspace.dir, 'copy');
  const dataDir = workspace.env['DATA_DIR'] ?? '';
  await cp(dataDir, copy, { recursive: true });
  const [canceled, kept] = [ids.slice(1, 3), [...ids.slice(0, 1), ...ids.slice(3)]];
  for (const id of canceled) await service.request('DELETE', `${path}/${id}`);
  await untilAll(canceled, 'canceled');
  await hold(false);
  const made = await untilAll(kept, 'confirmed');
  t.strictSame(await payments(), [1, 1, 1, 1]);
  await service.end();
  await rm(dataDir, { recursive: true });
  await cp(copy, dataDir, { recursive: true });

  service = await composeService(workspace.env);
  const again = await untilAll(ids, 'confirmed');
  t.strictSame(await payments(), [1, 3, 1, 1], 'of the three equal ones, two are left to be made');
  t.strictSame([again[0], again[3], again[4]], made);
  t.equal(new Set(again).size, 5);
}

t.test('Solana has no sequences: the signatures of the account are looked through', async (t) => {
  const svm = await startSvm({ slotMs: 20, finalizedAfter: 3 });
  t.teardown(() => svm.stop());
  const workspace = await createWorkspace({
    rpcUrl: svm.url,
    relayer: { network_type: 'solana', policies: { fee_payment_strategy: 'relayer' } },
    network: { type: 'solana' },
  });
  t.teardown(() => workspace.remove());
  const relayer = SolanaKeypair.fromSeed(Buffer.from(workspace.privateKey.slice(2), 'hex')).publicKey;
  await svm.airdrop(relayer.toBase58(), 10_000_000_000n);
  const text = (index: number) => `payment ${index}`;
  await putBackOnce(t, {
    workspace,
    async hold(isHeld) {
      if (!isHeld) return svm.clearFaults();
      await svm.fault({ methods: ['getLatestBlockhash'], act: { kind: 'error', code: -32_603, message: 'later' } });
    },
    async payments() {
      const signatures = (await svm.rpc('getSignaturesForAddress', [relayer.toBase58()])) as { memo: string | null }[];
      return [0, 1, 2, 3].map((index) => signatures.filter(({ memo }) => memo?.endsWith(text(index)) === true).length);
    },
    body: (index) => ({ instructions: [memo(text(index))] }),
  });
});

t.test('Stellar: the ledgers are looked through for the account’s sequences', async (t) => {
  const scene = await startStellarScene({ ledgerMs: 200 });
  t.teardown(() => scene.net.stop());
  const workspace = await createWorkspace({
    rpcUrl: scene.net.url,
    relayer: { network_type: 'stellar', policies: { fee_payment_strategy: 'relayer' } },
    network: { type: 'stellar', passphrase: scene.net.passphrase, average_blocktime_ms: 200 },
  });
  t.teardown(() => workspace.remove());
  const relayer = Keypair.fromRawEd25519Seed(Buffer.from(workspace.privateKey.slice(2), 'hex'));
  await scene.net.fund(relayer.publicKey(), 100n * LUMEN);
  const receivers = [0, 1, 2, 3].map(() => Keypair.random().publicKey());
  for (const receiver of receivers) await scene.net.fund(receiver, 10n * LUMEN);
  await putBackOnce(t, {
    workspace,
    async hold(isHeld) {
      if (!isHeld) return scene.net.clearFaults();
      const act = { kind: 'error', code: -32_603, message: 'later' } as const;
      await scene.net.fault({ methods: ['getLatestLedger'], act });
    },
    async payments() {
      const balances = [];
      for (const receiver of receivers) balances.push(Number((await scene.balanceOf(receiver)) - 10n * LUMEN));
      return balances;
    },
    body: (index) => ({ network: 'testnet', operations: [payment(receivers[index] ?? '', 1n)] }),
  });
});
