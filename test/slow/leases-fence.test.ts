/**
 * Threat: an owner pauses past its lease, for example through a suspended machine or a long garbage collection. It
 * wakes up and continues while another has taken over. What could break the promise: a fence that is checked before the
 * write instead of in it, the owner's own clock, or a takeover that does not wait for a commit.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { sequenceOf } from '../../src/features/transactions/records/anchor.ts';
import { laneKey } from '../../src/features/transactions/records/lane.ts';
import { createLog } from '../../src/observability/log.ts';
import type { Lease } from '../../src/store/lease.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres.ts';
import type { Store } from '../../src/store/store.ts';
import { startAnvil } from '../support/anvil.ts';
import { present } from '../support/engine-world.ts';
import { identityAt, storedTransaction } from '../support/evm.ts';
import { hastyLeases, startPostgres } from '../support/postgres.ts';
import { quickStart } from '../support/run-folder.ts';
import { relayerOf, transactionOf } from '../support/store.ts';
import { leaseOf } from '../support/store-contract/leases.ts';

const log = createLog('silent');
const postgres = await startPostgres();
t.teardown(() => postgres.stop());

const LEASE_PROCESS = fileURLToPath(import.meta.resolve('../support/lease-process.ts'));
const ENGINE_PROCESS = fileURLToPath(import.meta.resolve('../support/engine-process.ts'));

/** Starts a process. `said` yields its output lines. */
function startProcess(t: Test, entry: string, args: string[]): { child: ChildProcess; said: AsyncIterator<string> } {
  const child = spawn(process.execPath, [...quickStart(), entry, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  return { child, said: createInterface({ input: present(child.stdout ?? undefined) })[Symbol.asyncIterator]() };
}

/**
 * Lets a stopped process go on. On a busy machine it may stop a while after it has said so, and would then be told too
 * early, so it is told again and again.
 */
function wake(t: Test, child: ChildProcess): void {
  child.kill('SIGCONT');
  const again = setInterval(() => child.kill('SIGCONT'), 100);
  t.teardown(() => clearInterval(again));
}

async function openStore(t: Test, url: string, more: object = hastyLeases): Promise<Store> {
  const store = await openPostgresStore({ url, log, ...more });
  t.teardown(() => store.close());
  return store;
}

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const end = Date.now() + 60_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`not within 60 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Waits for a lease that another owner holds, and takes it. */
async function takeOver(store: Store): Promise<Lease> {
  return until('the lease is free', async () => {
    const answer = await store.leases.acquire('lane');
    return answer.kind === 'taken' ? answer.lease : undefined;
  });
}

for (const place of ['outside', 'inside'] as const) {
  t.test(`an owner that was stopped ${place} a write does not get it through after a takeover`, async (t) => {
    const url = await postgres.createDatabase();
    const store = await openStore(t, url);
    const { child, said } = startProcess(t, LEASE_PROCESS, [url, place]);
    t.equal((await said.next()).value, 'held');
    t.match(await store.leases.acquire('lane'), { kind: 'elsewhere', forMs: Number });

    const lease = await takeOver(store);
    await store.writeUnder(lease, (writer) => writer.insertTransaction(transactionOf({ id: 'fresh' })));
    const exit = once(child, 'exit');
    wake(t, child);
    // If the process stopped inside a transaction, the database server has ended its connection.
    t.equal((await said.next()).value, place === 'outside' ? 'LeaseLost' : 'StoreUnavailable');
    t.strictSame(await exit, [0, null]);
    const { items } = await store.read.transactions('relayer-1', { page: 1, perPage: 10 });
    t.strictSame(
      items.map(({ id }) => id),
      ['fresh'],
    );
    t.strictSame(await store.leases.renew([lease]), [lease], 'the new owner was not disturbed');
  });
}

t.test('an expired lease that nobody took is over as well, and its owner takes it anew', async (t) => {
  const store = await openStore(t, await postgres.createDatabase(), { leaseMs: 150, idleInTransactionMs: 100 });
  const lease = await leaseOf(store, 'lane');
  await until(
    'it has expired',
    async () => ((await store.leases.renew([])).length === 0 && (await isOver(store, lease))) || undefined,
  );
  t.strictSame(await store.leases.renew([lease]), []);
  t.ok((await leaseOf(store, 'lane')).token > lease.token);
});

async function isOver(store: Store, lease: Lease): Promise<boolean> {
  try {
    await store.writeUnder(lease, async () => 1);
    return false;
  } catch (error) {
    if (error instanceof Error && error.name === 'LeaseLost') return true;
    throw error;
  }
}

t.test('a write that outlasts its lease still comes before the takeover, not under it', async (t) => {
  const url = await postgres.createDatabase();
  const brief = { leaseMs: 2_000, idleInTransactionMs: 1_900 };
  const [owner, other] = [await openStore(t, url, brief), await openStore(t, url, brief)];
  const lease = await leaseOf(owner, 'lane');
  let isWriting = true;
  const writing = owner.writeUnder(lease, async (writer) => {
    for (const end = Date.now() + 4_000; Date.now() < end; ) await writer.kvSet('plugin', 'key', String(Date.now()));
  });
  void writing.finally(() => {
    isWriting = false;
  });
  await takeOver(other);
  t.notOk(isWriting, 'the takeover came after the commit');
  await writing;
  t.ok(await other.read.kvGet('plugin', 'key'));
});

t.test('of many that want a free lease one gets it, and renewals live beside its writes', async (t) => {
  const url = await postgres.createDatabase();
  const patient = { leaseMs: 60_000 };
  const stores = await Promise.all([1, 2, 3].map(() => openStore(t, url, patient)));
  const answers = await Promise.all(stores.flatMap((store) => [store.leases.acquire('lane')]));
  const taken = answers.flatMap((answer) => (answer.kind === 'taken' ? [answer.lease] : []));
  t.equal(taken.length, 1);
  const lease = present(taken[0]);
  const owner = present(stores[answers.findIndex(({ kind }) => kind === 'taken')]);
  const work = Array.from({ length: 200 }, async (_, index) => {
    if (index % 20 === 0) return (await owner.leases.renew([lease])).length;
    await owner.writeUnder(lease, (writer) => writer.insertTransaction(transactionOf({ id: `t${index}` })));
    return 1;
  });
  t.strictSame(new Set(await Promise.all(work)), new Set([1]));
  t.equal((await owner.read.transactions('relayer-1', { page: 1, perPage: 1 })).total, 190);
});

t.test('an engine frozen before its first byte leaves pays no second time when it wakes up', async (t) => {
  // With instant mining, anvil sometimes holds a transaction back for ever.
  const anvil = await startAnvil({ blockTime: 0.1 });
  t.teardown(() => anvil.stop());
  const folder = await mkdtemp(join(tmpdir(), 'isolayer-fence-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const keyFile = join(folder, 'key');
  const [sender, receiver] = [present(anvil.accounts[0]), present(anvil.accounts[1])];
  await writeFile(keyFile, sender.privateKey);
  const url = await postgres.createDatabase();
  const store = await openStore(t, url);
  const identity = await identityAt(anvil.url);
  const lane = laneKey('evm', identity, sender.address);
  const account = { address: sender.address, policies: {} };
  const payment = () => {
    const body = { to: receiver.address, value: '12345', speed: 'fast' };
    const id = crypto.randomUUID();
    return { ...storedTransaction(account, body, { id, createdAt: Date.now() }), lane };
  };
  const accepted = Array.from({ length: 5 }, payment);
  await store.write(async (writer) => {
    await writer.putRelayer(relayerOf({ id: 'relayer', network: 'testnet', address: sender.address }));
    await writer.pinChainIdentity('evm', 'testnet', identity);
    for (const transaction of accepted) await writer.insertTransaction(transaction);
  });
  const areMined = async () => {
    const now = await Promise.all(accepted.map(async ({ id }) => store.read.transaction('relayer', id)));
    return now.every((transaction) => ['mined', 'confirmed'].includes(transaction?.status ?? '')) || undefined;
  };
  const countOf = async () => Number(await anvil.rpc('eth_getTransactionCount', [sender.address, 'pending']));

  const frozen = startProcess(t, ENGINE_PROCESS, [url, anvil.url, keyFile, 'freeze']);
  const bytes = (await frozen.said.next()).value;
  t.equal(await countOf(), 0, 'nothing has left');
  const other = startProcess(t, ENGINE_PROCESS, [url, anvil.url, keyFile, 'go']);
  t.equal((await other.said.next()).value, bytes, 'the same bytes go out');
  await until('all are mined', areMined);

  wake(t, frozen.child);
  // A later payment shows that one of the two engines still works.
  const later = payment();
  await store.write((writer) => writer.insertTransaction(later));
  await until('the later one is mined', async () => {
    const status = (await store.read.transaction('relayer', later.id))?.status ?? '';
    return ['mined', 'confirmed'].includes(status) || undefined;
  });
  t.equal(await countOf(), 6);
  const attempts = await Promise.all([...accepted, later].map(({ id }) => store.read.attempts(id)));
  t.equal(attempts.flat().length, 6, 'one version each');
  t.strictSame(
    new Set(attempts.flat().map(({ anchor }) => sequenceOf(anchor))),
    new Set([0n, 1n, 2n, 3n, 4n, 5n]),
    'one nonce each',
  );
  const paid = BigInt(String(await anvil.rpc('eth_getBalance', [receiver.address, 'latest']))) - 10_000n * 10n ** 18n;
  t.equal(paid, 6n * 12345n);
});
