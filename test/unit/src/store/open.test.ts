import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createLog } from '../../../../src/observability/log.ts';
import { openStore } from '../../../../src/store/open.ts';
import { createSealer } from '../../../../src/store/sealing.ts';

t.test('open store', async (t) => {
  const partsIn = (dataDir: string, cut = new AbortController().signal) => ({
    dataDir,
    cut,
    log: createLog('silent'),
    sealer: createSealer([Buffer.alloc(32, 1)], randomBytes),
  });

  t.test('without a URL the database is a file of the data folder', async (t) => {
    const dataDir = t.testdir();
    const store = await openStore(undefined, partsIn(dataDir));
    await store.close();
    t.ok(existsSync(join(dataDir, 'isolayer.db')));
  });

  t.test('with a URL it is that server, and no file', async (t) => {
    const dataDir = t.testdir();
    const leaving = AbortSignal.abort();
    await t.rejects(openStore('postgres://nobody@127.0.0.1:1/none', partsIn(dataDir, leaving)));
    t.notOk(existsSync(join(dataDir, 'isolayer.db')));
  });
});
