/** Threat: a server that ends in the middle of its work because nobody reads what it says any more. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { createWorkspace } from '../support/workspace.ts';

const root = join(import.meta.dirname, '..', '..');
const API_KEY = 'a-key-of-more-than-thirty-two-characters';

t.test('a server whose terminal is gone still finishes what is under way', async (t) => {
  const workspace = await createWorkspace({
    pluginFiles: {
      'slow.ts': `export const handler = async () => { await new Promise((r) => setTimeout(r, 1500)); return 'done'; };`,
    },
  });
  t.teardown(() => workspace.remove());
  const server = spawn(process.execPath, ['--disable-sigusr1', join(root, 'src', 'main.ts')], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', ...workspace.env, API_KEY, HOST: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => server.kill('SIGKILL'));
  const exited = once(server, 'exit');
  let url = '';
  for await (const line of createInterface({ input: server.stdout })) {
    url = /"address":"(http:[^"]+)".*"msg":"ready"/.exec(line)?.[1] ?? '';
    if (url !== '') break;
  }
  const call = fetch(`${url}/api/v1/plugins/slow/call`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}` },
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  server.stdout.destroy();
  server.stderr.destroy();
  server.kill('SIGTERM');
  t.match(await (await call).json(), { data: 'done' });
  t.same(await exited, [0, null], 'and ends in good order');
});

t.test('a signal that comes while the service is still being loaded ends it in good order', async (t) => {
  const workspace = await createWorkspace();
  t.teardown(() => workspace.remove());
  const entry = await readFile(join(root, 'src', 'main.ts'), 'utf8');
  t.notMatch(entry, /^import (?!type )/m, 'nothing is loaded before somebody listens');
  const server = spawn(process.execPath, ['src/main.ts'], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', ...workspace.env, API_KEY, HOST: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.teardown(() => server.kill('SIGKILL'));
  const exited = once(server, 'exit');
  const said = text(server.stdout);
  await listensFor(server.pid ?? 0, SIGTERM);
  server.kill('SIGTERM');
  t.same(await exited, [0, null]);
  t.notMatch(await said, /"msg":"ready"/);
});

const SIGTERM = 15;

/** Waits until a process catches a signal, by its number (proc(5), SigCgt); at once where there is no /proc. */
async function listensFor(pid: number, signal: number): Promise<void> {
  for (let look = 0; look < 3000; look += 1) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => 'SigCgt:\tffffffffffffffff');
    const caught = BigInt(`0x${/^SigCgt:\s*([0-9a-f]+)/m.exec(status)?.[1] ?? '0'}`);
    if ((caught >> BigInt(signal - 1)) & 1n) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('the server never listened for the signal');
}
