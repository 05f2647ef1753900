/** What a newcomer sees of `npm ci`, with the Node and npm of the system. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '..', '..');
const { npm_execpath: npm, npm_node_execpath: node, ...inherited } = process.env;

t.test('an install warns of nothing', async (t) => {
  const dir = join(t.testdir({}), 'clone');
  mkdirSync(dir);
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) cpSync(join(root, file), join(dir, file));
  // The settings of the npm that runs the tests would count more than the file.
  const env = Object.fromEntries(Object.entries(inherited).filter(([name]) => !/^npm_/i.test(name)));
  const ci = ['ci', '--dry-run', '--offline'];
  const [program, parameters] = npm === undefined || node === undefined ? ['npm', ci] : [node, [npm, ...ci]];
  const { status, stdout, stderr } = spawnSync(program, parameters, { cwd: dir, env, encoding: 'utf8' });
  t.equal(stderr, '');
  t.equal(status, 0);
  const lines = stdout.split('\n').filter((line) => line !== '');
  t.match(lines.pop(), /^added \d+ packages in/);
  t.ok(lines.length > 100);
  t.same(
    lines.filter((line) => !line.startsWith('add ')),
    [],
  );
});
