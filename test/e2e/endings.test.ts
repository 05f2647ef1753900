/** Threat: a server that ends in the middle of its work because nobody reads what it says any more. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { quickStart } from '../support/run-folder.ts';
import { compileCache } from '../support/service.ts';
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
  const server = spawn(process.execPath, [...quickStart(), '--disable-sigusr1', join(root, 'src', 'main.ts')], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', ...compileCache(), ...workspace.env, API_KEY, HOST: '127.0.0.1' },
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

/** Says when the service is about to be loaded. */
const TELLING = `import { registerHooks } from 'node:module';
registerHooks({ resolve(specifier, context, next) {
  if (specifier.endsWith('/compose.ts')) process.stdout.write('loading\\n');
  return next(specifier, context);
} });`;

t.test('a signal that comes while the service is still being loaded ends it in good order', async (t) => {
  const workspace = await createWorkspace();
  t.teardown(() => workspace.remove());
  const preload = `data:text/javascript,${encodeURIComponent(TELLING)}`;
  const server = spawn(process.execPath, ['--import', preload, join('src', 'main.ts')], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', ...workspace.env, API_KEY, HOST: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.teardown(() => server.kill('SIGKILL'));
  const exited = once(server, 'exit');
  let said = '';
  server.stdout.on('data', (chunk: Buffer) => {
    if (said === '') server.kill('SIGTERM');
    said += chunk.toString();
  });
  t.same(await exited, [0, null]);
  t.match(said, /^loading/);
  t.notMatch(said, /"msg":"ready"/);
});
