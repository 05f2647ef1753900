/** Threat: a process that has left its guest or its build reads what lies beside it: keystores, `.env`, the database. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { runtimeFiles } from '../../../../sandbox/confinement/runtime-files.ts';
import { toolPath } from '../../../../sandbox/confinement/tool.ts';
import { emptyRoot, fileRules } from '../../../../sandbox/confinement/wall.ts';

const folder = mkdtempSync(join(tmpdir(), 'isolayer-wall-'));
t.teardown(() => rmSync(folder, { recursive: true }));
const given = join(folder, 'given');
const secret = join(folder, 'secret');
writeFileSync(given, 'given');
writeFileSync(secret, 'secret');

const LOOK = `
  const { readFileSync, readdirSync, writeFileSync } = require('node:fs');
  const attempt = (act) => { try { return String(act()); } catch (error) { return error.code; } };
  console.log(JSON.stringify({
    given: attempt(() => readFileSync(${JSON.stringify(given)})),
    secret: attempt(() => readFileSync(${JSON.stringify(secret)})),
    listed: attempt(() => readdirSync(${JSON.stringify(dirname(folder))})),
    written: attempt(() => writeFileSync(${JSON.stringify(given)}, 'changed')),
    made: attempt(() => writeFileSync('/made', '')),
  }));`;

/** What a plain node sees behind these arguments of a tool; undefined where the tool does not run here. */
function seen(t: Test, tool: string, args: readonly string[]): Record<string, string> | undefined {
  const file = toolPath(tool);
  if (file === undefined) return void t.pass(`${tool} is not installed`);
  const works = spawnSync(file, [...args, process.execPath, '--version']).status === 0;
  if (!works) return void t.pass(`${tool} does not do this here`);
  const { stdout, stderr } = spawnSync(file, [...args, process.execPath, '--eval', LOOK], { encoding: 'utf8' });
  t.equal(stderr, '');
  return JSON.parse(stdout) as Record<string, string>;
}

t.test('an empty root has what was put there, to read', async (t) => {
  const found = seen(t, 'bwrap', [...emptyRoot([...runtimeFiles(), given], ['pid', 'net']), '--']);
  if (found === undefined) return;
  t.match(found, { given: 'given', secret: 'ENOENT', written: 'EROFS', made: 'EROFS' });
  t.notMatch(found['listed'], 'secret');
});

t.test('an empty root has links as they are', async (t) => {
  const target = join(folder, 'real');
  writeFileSync(target, 'behind a link');
  const root = emptyRoot([...runtimeFiles(), target], ['pid', 'net'], [{ path: given, target }]);
  const found = seen(t, 'bwrap', [...root, '--']);
  if (found !== undefined) t.match(found, { given: 'behind a link', secret: 'ENOENT' });
});

t.test('rules for files let nothing else be opened', async (t) => {
  const found = seen(t, 'setpriv', fileRules([...runtimeFiles(), given]));
  if (found === undefined) return;
  t.same(found, { given: 'given', secret: 'EACCES', listed: 'EACCES', written: 'EACCES', made: 'EACCES' });
});

t.test('rules for files let folders be listed, and no more', async (t) => {
  const found = seen(t, 'setpriv', fileRules([...runtimeFiles(), given], [dirname(folder)]));
  if (found === undefined) return;
  t.match(found, { given: 'given', secret: 'EACCES', written: 'EACCES', made: 'EACCES' });
  t.match(found['listed'], basename(folder));
});
