/**
 * PostgreSQL refuses to run as root, so the tests run it as another user. This user may be unable to enter the clone,
 * for example below root's home. The tests must work there too.
 */
import { spawnSync } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { canEnter, installedPostgres, ownerOfServers, postgresBinaries } from '../support/postgres-binaries.ts';
import { quickFolder } from '../support/run-folder.ts';

t.test('whoever runs PostgreSQL gets to its programs, wherever they were installed', async (t) => {
  const folder = await mkdtemp(join(quickFolder(), 'isolayer-closed-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o755);
  const closed = join(folder, 'closed');
  await mkdir(closed, { mode: 0o700 });
  const installed = join(closed, 'package');
  await cp(installedPostgres(), installed, { recursive: true, verbatimSymlinks: true });

  const owner = ownerOfServers();
  for (const time of ['first', 'second']) {
    for (const program of Object.values(await postgresBinaries(installed, owner, folder))) {
      const ran = spawnSync(program, ['--version'], { ...owner, cwd: '/', encoding: 'utf8' });
      t.match(ran.stdout, /PostgreSQL/, `${program}, the ${time} time: ${ran.error ?? ran.stderr}`);
    }
  }
  t.equal(canEnter(closed, owner), owner.uid === undefined, 'the folder stays as closed as it was');
});
