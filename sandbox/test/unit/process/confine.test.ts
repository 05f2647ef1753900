/** Threat: a child that was started with less than all restrictions, and runs guests all the same. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { missingRestriction } from '../../../process/confine.ts';

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
    const { confine } = await import(${JSON.stringify(import.meta.resolve('../../../process/confine.ts'))});
    const before = process.permission.has('addon');
    confine();
    console.log(before, process.permission.has('addon'));
  `;
  const line = ['--permission', '--allow-addons', '--allow-fs-read=*', '--input-type=module', '-e', script];
  t.equal(spawnSync(process.execPath, line, { encoding: 'utf8' }).stdout, 'true false\n');
});

t.test('what was removed does not come back, and the process can still end itself', async (t) => {
  const script = `
    const { confine } = await import(${JSON.stringify(import.meta.resolve('../../../process/confine.ts'))});
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

/** Threat: a guest that has left its isolate uses a file or socket that the server's own parent left open. */
t.test('inherited', async (t) => {
  const MODULE = JSON.stringify(import.meta.resolve('../../../process/confine.ts'));

  t.test('files, folders, devices and sockets are closed, streams, channel and journal are not', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'isolayer-inherited-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'secret');
    writeFileSync(file, 'secret');
    const opened = [openSync(file, 'r'), openSync(folder, 'r'), openSync('/dev/null', 'r')];
    t.teardown(() => opened.map((fd) => closeSync(fd)));
    const [secret = 0, directory = 0, device = 0] = opened;
    const code = `
    const { fstatSync } = await import('node:fs');
    const { closeInherited } = await import(${MODULE});
    const isOpen = (fd) => { try { fstatSync(fd); return true; } catch { return false; } };
    const before = Array.from({ length: 30 }, (_, fd) => fd).filter(isOpen);
    closeInherited();
    const closed = before.filter((fd) => !isOpen(fd));
    // A timer and a promise still work: what Node itself needs is there.
    setTimeout(() => console.log(JSON.stringify(closed)), 1);`;
    // 3: the channel, 4: the journal, then a file, a folder, a device and a socket, far above what Node opens itself.
    const fillers = Array.from({ length: 15 }, () => 'ignore' as const);
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'inherit', 'pipe', secret, ...fillers, secret, directory, device, 'pipe'],
    });
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    await once(child, 'close');
    t.same(JSON.parse(said), [20, 21, 22, 23]);
  });
});
