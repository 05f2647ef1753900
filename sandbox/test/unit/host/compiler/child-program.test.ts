import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { build, stop } from 'esbuild';
import t from 'tap';
import { nodeArguments } from '../../../../driver/launch.ts';
import { CHILD_BUILD, childProgram, nativeAddon } from '../../../../host/compiler/child-program.ts';
import { sandboxProgram } from '../../../support/sandbox.ts';

t.teardown(stop);

/** Runs a program in the way that a child process runs its own. */
function run(program: string) {
  return spawnSync(process.execPath, nodeArguments(), { input: program, encoding: 'utf8', env: {} });
}

t.test('a program has its native module, and nothing of this machine to read', async (t) => {
  const contents = `import ivm from 'isolated-vm';
    import { writeSync, readFileSync } from 'node:fs';
    const isolate = new ivm.Isolate({ memoryLimit: 8 });
    writeSync(2, String(isolate.createContextSync().evalSync('6 * 7')) + ' ');
    try { readFileSync(${JSON.stringify(import.meta.filename)}); } catch (error) { writeSync(2, error.code); }`;
  const { outputFiles } = await build({ ...CHILD_BUILD, write: false, stdin: { contents, resolveDir: '/' } });
  const { stderr } = run(childProgram(outputFiles[0]?.text ?? '', nativeAddon()));
  t.equal(stderr, '42 ERR_ACCESS_DENIED');
});

t.test('a stack trace names the function and a line, not the text of the program', async (t) => {
  const contents = `function failing() { throw new Error('it is so'); }
    export function caller() { failing(); }
    caller();`;
  const { outputFiles } = await build({ ...CHILD_BUILD, write: false, stdin: { contents } });
  const { stderr, status } = run(childProgram(outputFiles[0]?.text ?? '', nativeAddon()));
  t.equal(status, 1);
  t.match(stderr, /Error: it is so\n +at failing \(isolayer-sandbox:\d+:\d+\)\n +at caller \(isolayer-sandbox:/);
  t.ok(stderr.length < 2000, 'it is short');
});

t.test('without its native module a child says what it lacks', async (t) => {
  const { stderr, status } = run(childProgram('', '/nowhere/isolated-vm.node'));
  t.equal(status, 1);
  t.match(stderr, /\/nowhere\/isolated-vm\.node: cannot open shared object file/);
});

t.test('the native module is a file of isolated-vm', async (t) => {
  const addon = nativeAddon();
  t.ok(path.isAbsolute(addon) && existsSync(addon));
  t.match(addon, /isolated-vm.*\.node$/);
});

t.test('the program of the service has no path of this machine but that of its native module', async (t) => {
  const program = await sandboxProgram();
  t.notMatch(
    program.replaceAll(JSON.stringify(nativeAddon()), ''),
    path.resolve(import.meta.dirname, '../../../../..'),
  );
  t.match(program, /\/\/ sandbox\/process\/main\.ts/);
});
