/** Threat: a child that was started with less than all restrictions, and runs guests all the same. */
import { spawnSync } from 'node:child_process';
import t from 'tap';
import { missingRestriction } from '../../../../sandbox/process/confine.ts';

const FLAGS = ['--permission', '--no-experimental-sqlite', '--no-experimental-ffi', '--no-node-snapshot'];
const started = (allowed: string[] = [], execArgv = FLAGS, env = {}) => ({
  execArgv,
  env,
  permission: { has: (scope: string) => allowed.includes(scope) },
});

t.test('a child with all restrictions may run guests', async (t) => {
  t.equal(missingRestriction(started()), null);
});

t.test('each missing restriction is named', async (t) => {
  for (const flag of FLAGS) {
    const others = FLAGS.filter((one) => one !== flag);
    t.equal(missingRestriction(started([], others)), `it was started without ${flag}`);
  }
  for (const scope of ['fs.read', 'fs.write', 'net', 'child', 'worker', 'wasi', 'inspector']) {
    t.match(missingRestriction(started([scope])), scope);
  }
  t.match(missingRestriction({ execArgv: FLAGS, env: {} }), /permission model is off/);
  t.match(missingRestriction(started([], FLAGS, { API_KEY: 'x' })), /API_KEY/);
});

t.test('no native module can be loaded any more', async (t) => {
  const script = `
    const { confine } = await import(${JSON.stringify(import.meta.resolve('../../../../sandbox/process/confine.ts'))});
    const before = process.permission.has('addon');
    confine();
    console.log(before, process.permission.has('addon'));
  `;
  const line = ['--permission', '--allow-addons', '--allow-fs-read=*', '--input-type=module', '-e', script];
  t.equal(spawnSync(process.execPath, line, { encoding: 'utf8' }).stdout, 'true false\n');
});

t.test('what was removed does not come back, and the process can still end itself', async (t) => {
  const script = `
    const { confine } = await import(${JSON.stringify(import.meta.resolve('../../../../sandbox/process/confine.ts'))});
    const die = confine();
    for (const name of ['kill', '_kill', 'dlopen', 'binding', 'getBuiltinModule', 'reallyExit', '_debugProcess']) {
      try { process[name] = () => {}; } catch {}
      try { Object.defineProperty(process, name, { value: () => {} }); } catch {}
      delete Object.getPrototypeOf(process)[name];
      if (typeof process[name] !== 'undefined') console.log('back:', name);
    }
    const os = await import('node:os');
    const v8 = await import('node:v8');
    console.log(typeof os.setPriority, typeof os.default.setPriority, typeof v8.setFlagsFromString);
    die();
    console.log('alive');
  `;
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  t.equal(child.stdout, 'undefined undefined undefined\n');
  t.equal(child.signal, 'SIGABRT');
});
