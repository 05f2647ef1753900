/** Threat: a guest that has left its isolate uses a file or socket that the server's own parent left open. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';

const MODULE = JSON.stringify(import.meta.resolve('../../../../sandbox/process/inherited.ts'));

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
