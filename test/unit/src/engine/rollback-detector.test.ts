import { randomBytes } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t, { type Test } from 'tap';
import { systemClock } from '../../../../src/domain/clock.ts';
import {
  failUnsigned,
  isRolledBack,
  RollbackDetector,
  type RollbackDetectorDeps,
} from '../../../../src/engine/rollback-detector.ts';
import { createLog } from '../../../../src/observability/log.ts';
import { createSealer } from '../../../../src/store/sealing.ts';
import { openFolderMemory } from '../../../../src/store/sqlite/folder-memory.ts';
import { openSqliteStore } from '../../../../src/store/sqlite/sqlite.ts';
import type { StoreWriter } from '../../../../src/store/store.ts';
import { EngineWorld, relayerNamed } from '../../../support/engine-world.ts';
import { quickFolder } from '../../../support/run-folder.ts';
import { notificationOf, transactionOf } from '../../../support/store.ts';
import { callOf } from '../../../support/store-contract/calls.ts';
import { triggerStateOf } from '../../../support/store-contract/triggers.ts';

/** A data folder whose database a test can open, close and restore as often as it likes. */
class Folder {
  readonly dir = mkdtempSync(join(quickFolder(), 'isolayer-history-'));
  readonly path = join(this.dir, 'isolayer.db');
  readonly lines: string[] = [];
  #ids = 0;

  constructor(t: Test) {
    t.teardown(() => rmSync(this.dir, { recursive: true, force: true }));
  }

  /** Runs the body while a keeper watches the database. */
  async use<T>(
    body: (store: Awaited<ReturnType<typeof openSqliteStore>>, keeper: RollbackDetector) => Promise<T>,
    parts: Partial<RollbackDetectorDeps> = {},
  ): Promise<T> {
    const log = createLog('info', { write: (line) => void this.lines.push(line) });
    const sealer = createSealer([Buffer.alloc(32)], randomBytes);
    const store = await openSqliteStore({ path: this.path, log: createLog('silent'), clock: systemClock, sealer });
    try {
      const keeper = await RollbackDetector.open({
        store,
        memory: openFolderMemory(this.dir),
        newId: () => `epoch ${(this.#ids += 1)}`,
        log,
        onRollback: () => undefined,
        ...parts,
      });
      try {
        return await body(store, keeper);
      } finally {
        await keeper.close();
        await keeper.close();
      }
    } finally {
      await store.close();
    }
  }

  accept(id: string): Promise<void> {
    return this.use((store) =>
      store.write((writer) => writer.insertTransaction(transactionOf({ id, status: 'pending' }))),
    );
  }

  backUp(): string {
    const backup = join(this.dir, 'backup.db');
    copyFileSync(this.path, backup);
    return backup;
  }

  putBack(backup: string): void {
    copyFileSync(backup, this.path);
  }
}

const nothing = async () => undefined;

t.test('start after start nothing is asked, unsigned or not', async (t) => {
  const folder = new Folder(t);
  await folder.use(nothing);
  await folder.accept('a');
  await folder.use(nothing);
  const { epochs } = await folder.use((store) => store.read.history());
  t.strictSame(epochs, ['epoch 1']);
  t.strictSame(folder.lines, []);
});

t.test('a database from before is not used while it holds what may have been sent since', async (t) => {
  const folder = new Folder(t);
  await folder.accept('a');
  const backup = folder.backUp();
  await folder.use(nothing);
  folder.putBack(backup);
  const refusal = {
    name: 'WentBack',
    message:
      /holds 1 transactions .*\n.*\n.*restore --compare-unsigned .*\n.*restore --fail-unsigned .*\n.*restore --send-unsigned /,
  };
  await t.rejects(folder.use(nothing), refusal);
  await t.rejects(folder.use(nothing), refusal, 'until it is answered');

  new DatabaseSync(folder.path).exec(`update transactions set status = 'failed', next_action_at = null`);
  const { epochs } = await folder.use((store) => store.read.history());
  t.strictSame(epochs, ['epoch 1', 'epoch 2'], 'what holds nothing of the kind is used, as a database of its own');
  t.match(
    folder.lines.join(''),
    /"the database is a copy or was rolled back; it holds nothing that could be sent twice"/,
  );
});

t.test('a database that was put into a folder by hand is a copy', async (t) => {
  const [folder, other] = [new Folder(t), new Folder(t)];
  await folder.accept('a');
  copyFileSync(folder.path, other.path);
  await t.rejects(other.use(nothing), { name: 'WentBack' });
});

t.test('marks rise while it runs, in the database first; one whose commit was not answered does no harm', async (t) => {
  const folder = new Folder(t);
  await folder.use(async (store) => {
    let answers = 0;
    const write: typeof store.write = async (body) => {
      const result = await store.write(body);
      // The first two writes are those of `RollbackDetector.open`.
      if ((answers += 1) > 2 && answers % 2 === 1) throw new Error('the answer was lost');
      return result;
    };
    const memory = openFolderMemory(folder.dir);
    const log = createLog('warn', { write: (line) => void folder.lines.push(line) });
    const onRollback = () => t.fail('it did not');
    const parts = { store: { ...store, write }, memory, newId: () => 'unused', log, onRollback, everyMs: 1 };
    const keeper = await RollbackDetector.open(parts);
    const countOf = async () => (await store.read.history()).marks.get(memory.folder)?.count ?? 0;
    const first = await countOf();
    while ((await countOf()) < first + 6) await new Promise((resolve) => setTimeout(resolve, 1));
    await keeper.close();
    t.ok((openFolderMemory(folder.dir).known?.count ?? 0) <= (await countOf()));
    t.match(folder.lines.join(''), /the mark of the database could not be written/);
  });
});

t.test('a database that is put back under the running service ends it', async (t) => {
  const folder = new Folder(t);
  const wentBack = Promise.withResolvers<Error>();
  await folder.use(
    async (store) => {
      await store.write(async (writer) => {
        for (const [id, mark] of (await writer.history()).marks) await writer.putMark(id, { ...mark, count: 0 });
      });
      t.match((await wentBack.promise).message, /gone back under the running service/);
    },
    { everyMs: 1, onRollback: wentBack.resolve },
  );
});

t.test('what a folder knows is compared within its epoch', (t) => {
  const marks = new Map([['f', { count: 5, at: 0 }]]);
  const history = { epochs: ['1', '2'], place: 'here', marks };
  const known = { folder: 'f', epoch: '2', count: 5 };
  t.notOk(isRolledBack(history, known, 'here'));
  t.ok(isRolledBack(history, known, 'there'), 'a copy, of which nobody knows what others did after it was made');
  t.ok(isRolledBack(history, { ...known, count: 6 }, 'here'));
  t.ok(isRolledBack(history, { ...known, folder: 'g' }, 'here'), 'from before the folder was used');
  t.ok(isRolledBack(history, { ...known, epoch: '3' }, 'here'), 'from before the last answer');
  t.notOk(isRolledBack(history, { ...known, epoch: '1', count: 9 }, 'here'), 'answered with another folder');
  t.ok(isRolledBack({ epochs: [], place: null, marks: new Map() }, known, 'here'));

  t.notOk(isRolledBack(history, undefined, 'here'), 'one more instance');
  t.ok(isRolledBack(history, undefined, 'there'), 'a copy');
  t.ok(isRolledBack(history, undefined, null), 'a file that came without its folder');
  t.notOk(isRolledBack({ epochs: [], place: null, marks: new Map() }, undefined, null), 'new, or of an older version');
  t.end();
});

t.test('alone, the mark rises with the first signature after the start, and an idle service writes none', async (t) => {
  const folder = new Folder(t);
  await folder.accept('a');
  let backup = '';
  await folder.use(async (store, keeper) => {
    const marks = async () => [...(await store.read.history()).marks.values()].map(({ count }) => count);
    const [before = 0] = await marks();
    backup = folder.backUp();
    keeper.signed();
    while ((await marks())[0] === before) await new Promise((resolve) => setTimeout(resolve, 5));
    t.strictSame(await marks(), [before + 1]);
  });
  folder.putBack(backup);
  await t.rejects(folder.use(nothing), { name: 'WentBack' });
});

t.test('nor while it holds calls that go on or triggers, for they may have sent something since', async (t) => {
  const held: [string, (writer: StoreWriter) => Promise<unknown>][] = [
    ['1 durable calls that have not ended', (writer) => writer.insertCall(callOf())],
    ['1 triggers', (writer) => writer.putTrigger(triggerStateOf())],
  ];
  for (const [text, put] of held) {
    const folder = new Folder(t);
    await folder.use(nothing);
    await folder.use((store) => store.write(put));
    const backup = folder.backUp();
    await folder.use(nothing);
    folder.putBack(backup);
    await t.rejects(folder.use(nothing), { name: 'WentBack', message: new RegExp(`It holds ${text}\\. `) });
  }
});

t.test('calls are canceled, and triggers begin from now', async (t) => {
  const world = await EngineWorld.open(t);
  const calls = Array.from({ length: 120 }, (_, n) => callOf({ id: `call ${n}`, key: `key ${n}` }));
  const hourly = triggerStateOf({ name: 'hourly', cursor: { kind: 'moment', at: 1 }, fired: 3, paused: 'person' });
  const ended = triggerStateOf({ name: 'ended', cursor: { kind: 'place', written: 0, position: 0 } });
  await world.store.write(async (writer) => {
    for (const call of calls) await writer.insertCall(call);
    await writer.putTrigger(hourly);
    await writer.putTrigger(ended);
  });
  await failUnsigned(world.store, world.ledger());
  t.strictSame(await world.store.read.openCalls(), {});
  const { state, ending } = (await world.store.read.call('call 119')) ?? {};
  t.match({ state, ending }, { state: 'canceled', ending: { error: { message: /^Restored from a backup/ } } });
  const now = await world.store.now();
  const after = await world.store.read.trigger(hourly.pluginId, 'hourly');
  t.match(after, { fired: 3, paused: 'person', cursor: { kind: 'moment' } });
  t.ok(after?.cursor.kind === 'moment' && Math.abs(after.cursor.at - now) < 60_000);
});

t.test(
  'what nobody signed ends as failed, webhooks are told, and it is pruned in its time; the rest stays',
  async (t) => {
    const world = await EngineWorld.open(t);
    await world.store.write(async (writer) => {
      await writer.putNotification(notificationOf({ id: 'hook' }));
      await writer.putRelayer(relayerNamed('r1', { notificationId: 'hook' }));
    });
    const signed = await world.accept('signed', { status: 'sent', sequence: 3n, hash: '0x3' });
    const unsigned = await world.accept('unsigned');
    await failUnsigned(world.store, world.ledger());
    t.match(await world.get(unsigned), {
      status: 'failed',
      statusReason: /not sent, because it may have been sent after the backup/,
      nextActionAt: null,
    });
    t.not(await world.store.read.endedAt(unsigned.id), null, 'or it would be kept for ever');
    t.equal(await world.store.read.waitingEvents(), 1);
    t.equal((await world.get(signed)).status, 'sent');
    t.equal(await world.store.read.unsignedCount(), 0);
  },
);
