import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openWalFile } from '../../../../../src/store/sqlite/wal-file.ts';

/** The number of open descriptors of this process for this file. */
function descriptorsOf(path: string): number {
  const targets = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      // The descriptor that listed the folder is closed by now.
      return '';
    }
  });
  return targets.filter((target) => target === path).length;
}

t.test('a log can be flushed until it is closed', async (t) => {
  const path = join(t.testdir(), 'a.db');
  writeFileSync(`${path}-wal`, 'log');
  const wal = openWalFile(path);
  t.equal(descriptorsOf(`${path}-wal`), 1);
  await wal.flush();
  writeFileSync(`${path}-wal`, 'longer log');
  await Promise.all([wal.flush(), wal.flush()]);
  wal.close();
  t.equal(descriptorsOf(`${path}-wal`), 0);
  wal.close();
  await t.rejects(wal.flush(), /closed/, 'a flush that did not happen is none that succeeded');
});

t.test('a database without a log is none that can be flushed', async (t) => {
  t.throws(() => openWalFile(join(t.testdir(), 'none.db')), { code: 'ENOENT' });
});
