// Three instances fire a hundred triggers each second and one for each event of transactions, while they are killed and
// stopped and the database crashes. SECONDS says for how long.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { CallRecord } from '../../src/features/calls/record.ts';
import { FIRST_PLACE, type TransactionEvent } from '../../src/features/transactions/records/transaction-event.ts';
import { createLog } from '../../src/observability/log.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres.ts';
import { createSealer } from '../../src/store/sealing.ts';
import type { Store } from '../../src/store/store.ts';
import { startPostgres } from '../support/postgres.ts';
import { transactionOf } from '../support/store.ts';
import { COUNT } from '../support/trigger-stage.ts';

const SECONDS = Number(process.env['SECONDS'] ?? 40);
const PROCESS = fileURLToPath(import.meta.resolve('../support/trigger-process.ts'));

t.setTimeout((SECONDS + 120) * 1000);

t.test('one call for each moment and each event', async (t) => {
  const key = randomBytes(32);
  const postgres = await startPostgres({ durable: true });
  t.teardown(() => postgres.stop());
  const url = await postgres.createDatabase();
  const sealer = createSealer([key], randomBytes);
  const store = await openPostgresStore({ url, log: createLog('silent'), sealer });
  t.teardown(() => store.close());

  const children = [0, 1, 2].map(() => start(url, key));
  t.teardown(() => children.map((child) => child.kill('SIGKILL')));
  while ((await store.read.triggers()).length <= COUNT) await delay(100);
  const began = Date.now();
  const faults = { kill: 0, stop: 0, crash: 0 };
  let sent = 0;
  const send = async () => {
    while (Date.now() - began < SECONDS * 1000) {
      await delay(40);
      const id = `t${sent}`;
      sent += 1;
      try {
        await store.write((writer) => writer.insertTransaction(transactionOf({ id })));
        await store.write((writer) => writer.updateTransaction(id, 'pending', { status: 'sent', hash: id }));
        await store.write((writer) => writer.updateTransaction(id, 'sent', { status: 'failed' }));
      } catch {
        // The database was crashed; its events are what it kept.
      }
    }
  };
  const disturb = async () => {
    for (let turn = 0; Date.now() - began < SECONDS * 1000; turn += 1) {
      await delay(2000);
      const at = turn % children.length;
      const child = children[at];
      if (turn % 5 === 4) {
        faults.crash += 1;
        await postgres.crash();
        await postgres.restart();
      } else if (turn % 2 === 0) {
        faults.kill += 1;
        child?.kill('SIGKILL');
        children[at] = start(url, key);
      } else {
        faults.stop += 1;
        child?.kill('SIGSTOP');
        await delay(3000);
        child?.kill('SIGCONT');
      }
    }
  };
  await Promise.all([send(), disturb()]);

  const end = Date.now();
  const events = await eventsOf(store);
  const isDone = async () => {
    const states = await store.read.triggers();
    const reached =
      states.every(({ cursor }) => cursor.kind !== 'moment' || cursor.at > end) && states.length === COUNT + 1;
    const told = (await callsOf(store, 'told')).length;
    return reached && told >= events.length;
  };
  while (!(await isDone())) await delay(200);
  for (const child of children) child.kill('SIGKILL');

  const states = await store.read.triggers();
  t.equal(states.length, COUNT + 1);
  let moments = 0;
  for (const { name, fired, skipped, cursor, since } of states) {
    if (cursor.kind !== 'moment') continue;
    const made = (await callsOf(store, name)).map(({ key }) => Date.parse(key)).toSorted((a, b) => a - b);
    moments += made.length;
    const passed = Math.floor(cursor.at / 1000) - Math.floor(since / 1000);
    const isEach = made.every((at, index) => at % 1000 === 0 && (index === 0 || at > (made[index - 1] ?? 0)));
    const isAll = !name.startsWith('all') || made.length === passed;
    if (isEach && made.length === fired && fired + skipped === passed && isAll) continue;
    t.fail(`${name}: ${made.length} calls, ${fired} fired, ${skipped} skipped, ${passed} moments`);
  }
  const told = await callsOf(store, 'told');
  const expected = events.map(({ transactionId, position }) => `${transactionId}/${position}`);
  t.strictSame(told.map(({ key }) => key).toSorted(), expected.toSorted(), 'each event once');
  for (const id of new Set(events.map(({ transactionId }) => transactionId))) {
    const of = told.filter(({ key }) => key.startsWith(`${id}/`)).toSorted((a, b) => a.createdAt - b.createdAt);
    const positions = of.map(({ key }) => Number(key.split('/')[1]));
    if (positions.some((position, index) => position < (positions[index - 1] ?? 0))) t.fail(`${id} is out of order`);
  }
  t.comment(`${moments} moments, ${told.length} events, ${JSON.stringify(faults)}`);
  t.ok(
    moments > (COUNT * SECONDS) / 3 && told.length > SECONDS && faults.kill > 0 && faults.stop > 0 && faults.crash > 0,
  );
});

function start(url: string, key: Buffer): ChildProcess {
  return spawn(process.execPath, [PROCESS, url, key.toString('hex')], { stdio: ['ignore', 'inherit', 'inherit'] });
}

async function callsOf(store: Store, name: string): Promise<CallRecord[]> {
  const calls: CallRecord[] = [];
  for (let page = 1; ; page += 1) {
    const { items } = await store.read.calls(name === 'told' ? 'q' : 'p', { page, perPage: 20_000 }, {});
    calls.push(...items.filter(({ keyId }) => keyId.endsWith(`/${name}`)));
    if (items.length < 20_000) return calls;
  }
}

async function eventsOf(store: Store): Promise<TransactionEvent[]> {
  const all: TransactionEvent[] = [];
  for (;;) {
    const events = await store.read.transactionEvents(all.at(-1) ?? FIRST_PLACE, 500);
    all.push(...events);
    if (events.length === 0) return all;
  }
}
