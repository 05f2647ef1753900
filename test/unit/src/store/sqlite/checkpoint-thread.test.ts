import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { startCheckpointThread } from '../../../../../src/store/sqlite/checkpoints.ts';

t.test('the thread answers each job, says why one failed, and ends when it is told', async (t) => {
  const path = join(t.testdir(), 'a.db');
  const database = new DatabaseSync(path);
  database.exec('pragma journal_mode = wal; create table things (bytes blob) strict');
  database.exec('insert into things values (zeroblob(1000000))');
  const thread = startCheckpointThread(path);
  const ask = async (order: string): Promise<unknown> => {
    const answer = once(thread, 'message');
    thread.postMessage(order);
    const [said] = await answer;
    return said;
  };
  const { pages } = (await ask('copy')) as { pages: number };
  t.ok(pages > 240, `${pages} pages`);
  t.ok(statSync(path).size > 1_000_000);
  database.exec('begin immediate');
  t.match(await ask('finish'), { failure: /locked/, isForGood: false });
  database.exec('rollback');
  t.strictSame(await ask('finish'), { pages: 1 }, 'it goes on after a failure');
  const ended = once(thread, 'exit');
  thread.postMessage('end');
  t.strictSame(await ended, [0]);
  database.close();
});

t.test('a thread for a file that is no database fails', async (t) => {
  const dir = t.testdir({ 'text.db': 'no database at all, whatever it is called '.repeat(100) });
  const thread = startCheckpointThread(join(dir, 'text.db'));
  const [cause] = await once(thread, 'error');
  t.match(cause, { message: /not a database/ });
});

t.test('it is run as a thread and not imported', async (t) => {
  await t.rejects(import('../../../../../src/store/sqlite/checkpoint-thread.ts'), {
    message: /entry of a worker thread/,
  });
});
