/**
 * The promise: if the process is killed after signed bytes were committed and before they were sent, the same bytes are
 * sent later, and one transaction is on the chain. What could break it: a new signature after the restart, a second
 * nonce, or bytes that are sent before they are stored.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/domain/clock.ts';
import { laneKey } from '../../src/features/transactions/records/lane.ts';
import type { Transaction } from '../../src/features/transactions/records/transaction.ts';
import { createLog } from '../../src/observability/log.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite.ts';
import type { Store } from '../../src/store/store.ts';
import { type Anvil, startAnvil } from '../support/anvil.ts';
import { present } from '../support/engine-world.ts';
import { identityAt, storedTransaction } from '../support/evm.ts';
import { quickStart } from '../support/run-folder.ts';
import { relayerOf } from '../support/store.ts';

const ENTRY = fileURLToPath(import.meta.resolve('../support/engine-process.ts'));

/** Starts an engine's process. `offered` yields the raw bytes that it is about to send, in order. */
function startEngine(t: Test, args: string[]): { child: ChildProcess; offered: AsyncIterator<string> } {
  const child = spawn(process.execPath, [...quickStart(), ENTRY, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  return { child, offered: createInterface({ input: present(child.stdout ?? undefined) })[Symbol.asyncIterator]() };
}

async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

async function accept(store: Store, anvil: Anvil): Promise<Transaction> {
  const [sender, receiver] = anvil.accounts;
  const { address } = present(sender);
  const relayer = relayerOf({ id: 'relayer', network: 'testnet', address });
  const body = { to: present(receiver).address, value: '12345', speed: 'fast' };
  const transaction = storedTransaction({ address, policies: {} }, body, { createdAt: Date.now() });
  const identity = await identityAt(anvil.url);
  await store.write(async (writer) => {
    await writer.putRelayer(relayer);
    await writer.pinChainIdentity('evm', 'testnet', identity);
    await writer.insertTransaction({ ...transaction, lane: laneKey('evm', identity, address) });
  });
  return transaction;
}

t.test('kill -9 between commit and broadcast: the same bytes go out once', async (t) => {
  const anvil = await startAnvil({ blockTime: 0.1 });
  t.teardown(() => anvil.stop());
  const folder = await mkdtemp(join(tmpdir(), 'isolayer-crash-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'isolayer.db');
  const keyFile = join(folder, 'key');
  const sender = present(anvil.accounts[0]);
  await writeFile(keyFile, sender.privateKey);
  const store = await openSqliteStore({ path, log: createLog('silent'), clock: systemClock });
  t.teardown(() => store.close());
  const { id } = await accept(store, anvil);

  const first = startEngine(t, [path, anvil.url, keyFile, 'hang']);
  const aboutToLeave = String((await first.offered.next()).value);
  await kill(first.child);

  const committed = present(await store.read.transaction('relayer', id));
  const [attempt, ...others] = await store.read.attempts(id);
  t.match(committed, { status: 'sent', sequence: 0n });
  t.equal(attempt?.raw, aboutToLeave, 'the bytes were stored before they could leave');
  t.strictSame(others, []);
  t.equal(await anvil.rpc('eth_getTransactionCount', [sender.address, 'pending']), '0x0', 'nothing has left');

  // A reader remembers what it read until this process writes, and here another one does.
  const stored = () => store.write(async (writer) => writer.transaction('relayer', id));
  const second = startEngine(t, [path, anvil.url, keyFile, 'go']);
  t.equal((await second.offered.next()).value, aboutToLeave);
  const until = Date.now() + 20_000;
  for (;;) {
    const { status } = present(await stored());
    if (status === 'mined' || status === 'confirmed') break;
    if (Date.now() > until) throw new Error(`still ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await kill(second.child);

  const mined = present(await stored());
  t.equal(mined.hash, committed.hash);
  t.equal((await store.read.attempts(id)).length, 1);
  t.equal(await anvil.rpc('eth_getTransactionCount', [sender.address, 'latest']), '0x1');
  t.match(await anvil.rpc('eth_getTransactionByHash', [mined.hash]), { hash: mined.hash, nonce: '0x0' });
});
