/** Threat: a process that has left its guest reads what lies beside it: keystores, `.env`, the database. */
import { spawnSync } from 'node:child_process';
import { accessSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import t, { type Test } from 'tap';
import {
  bubblewrapArguments,
  landlockArguments,
  runtimeFiles,
  toolPath,
  toolSupportsOption,
} from '../../../driver/confinement.ts';

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
  const found = seen(t, 'bwrap', [...bubblewrapArguments([...runtimeFiles(), given]), '--']);
  if (found === undefined) return;
  t.match(found, { given: 'given', secret: 'ENOENT', written: 'EROFS', made: 'EROFS' });
  t.notMatch(found['listed'], 'secret');
});

t.test('rules for files let nothing else be opened', async (t) => {
  const found = seen(t, 'setpriv', landlockArguments([...runtimeFiles(), given]));
  if (found === undefined) return;
  t.same(found, { given: 'given', secret: 'EACCES', listed: 'EACCES', written: 'EACCES', made: 'EACCES' });
});

t.test('a tool is taken from the folders of the system, whatever PATH says', async (t) => {
  t.match(toolPath('sh'), /^\/(usr\/)?s?bin\/sh$/);
  t.equal(toolPath('isolayer-has-no-such-tool'), undefined);
});

t.test('a tool tells which options it has', async (t) => {
  const tool = toolPath('setpriv');
  if (tool === undefined) return void t.pass('it is not installed');
  t.ok(toolSupportsOption(tool, '--no-new-privs'));
  t.notOk(toolSupportsOption(tool, '--has-no-such-option'));
});

t.test('node and the folders of its libraries, each once, and all of them are there', async (t) => {
  const files = runtimeFiles();
  t.equal(files[0], process.execPath);
  t.equal(new Set(files).size, files.length);
  t.ok(files.every(isAbsolute));
  t.notOk(files.includes('/'), 'the root folder would be everything');
  for (const file of files) t.doesNotThrow(() => accessSync(file));
});
