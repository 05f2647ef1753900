/** Threat: a process that comes without what it was promised, or takes whoever starts it along. */
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { start } from '../../../../../sandbox/driver/child/start.ts';

t.test('a child that ends without taking its program does no harm to who started it', async (t) => {
  const child = start(['/bin/true'], { input: ' '.repeat(4_000_000) });
  const [code] = (await once(child, 'close')) as [number];
  t.equal(code, 0);
});

t.test('each is given the filter from its beginning, and the journal to write to', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'isolayer-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const [filter, journal] = [path.join(folder, 'filter'), path.join(folder, 'journal')];
  writeFileSync(filter, 'the filter');
  const filterFd = openSync(filter, 'r');
  const journalFd = openSync(journal, 'w+');
  for (const round of [1, 2]) {
    const child = start(['/bin/sh', '-c', `cat <&5 >&4; echo ${round} >&4`], { filterFd, journalFd });
    t.same(await once(child, 'exit'), [0, null]);
  }
  t.equal(readFileSync(journal, 'utf8'), 'the filter1\nthe filter2\n');
  closeSync(filterFd);
  closeSync(journalFd);
});

t.test('it has nothing of the environment, and is no member of a session that it could disturb', async (t) => {
  const child = start(['/bin/sh', '-c', 'pwd >&3; export >&3; echo $$ >&3; cut -d " " -f 6 /proc/$$/stat >&3']);
  let said = '';
  child.stdio[3]?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  await once(child, 'close');
  t.equal(said, `/\nexport PWD='/'\n${child.pid}\n${child.pid}\n`);
});
