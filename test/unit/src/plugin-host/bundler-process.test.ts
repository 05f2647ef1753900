/** Threat: a server that is killed leaves a process behind that builds on, and takes memory, for ever. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import t from 'tap';
import { PluginFolder } from '../../../support/plugin-host.ts';
import { descendantsOf, survivors } from '../../../support/processes.ts';

const sources = resolve(import.meta.dirname, '../../../../src/plugin-host');
const modulesDir = resolve(sources, '../../sandbox/guest/modules');

t.test('the process and that of esbuild end with the server, however that ends', { timeout: 120_000 }, async (t) => {
  if (process.platform !== 'linux') return void t.pass('this system does not tell');
  const folder = new PluginFolder({ 'a.js': '1;', 'b.js': `import 'hanging';`, 'node_modules/hanging/index.js': '' });
  t.teardown(() => folder.remove());
  folder.write('node_modules/hanging/package.json', '{"main":"./inner"}');
  folder.write('node_modules/hanging/inner/index.js', '');
  execFileSync('mkfifo', [join(folder.path, 'node_modules/hanging/inner/package.json')]);
  const job = (name: string) =>
    JSON.stringify({ kind: 'plugin', root: folder.path, modulesDir, file: join(folder.path, name) });
  folder.write(
    'server.mjs',
    `import { Bundler } from ${JSON.stringify(join(sources, 'bundler.ts'))};
      import { bundlerHolds } from ${JSON.stringify(join(sources, 'bundler-launch.ts'))};
      const bundler = new Bundler({ timeoutMs: 100_000, memoryBytes: 2 ** 30, idleMs: 100_000 }, bundlerHolds(2 ** 30, [${JSON.stringify(folder.path)}]));
      await bundler.build(${job('a.js')});
      void bundler.build(${job('b.js')});
      console.log('builds');`,
  );
  const server = spawn(process.execPath, [join(folder.path, 'server.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => server.kill('SIGKILL'));
  await once(server.stdout, 'data');
  const family = await descendantsOf(server.pid ?? 0);
  t.match(
    family.map(({ command }) => command).join('\n'),
    /bundler-process[^]*esbuild --service|esbuild --service[^]*bundler-process/,
  );
  server.kill('SIGKILL');
  t.same(await survivors(family, 30_000), []);
});
