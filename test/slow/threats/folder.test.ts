/**
 * Threat: a plugin's files and its configuration entry. A file leads out of the plugins folder, before or during the
 * read. An entry contradicts itself, and allows more than it seems to. If one of these fails, look at
 * `src/features/plugins/host/catalog/plugin-file.ts` and `import-wall.ts`, and at `src/features/plugins/records/plugin.ts`.
 */
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { openStage } from '../../support/attacks/stage.ts';
import { composeService } from '../../support/composed-service.ts';
import { startAndFail } from '../../support/service.ts';
import { createWorkspace } from '../../support/workspace.ts';

const SECRET = 'canary-in-a-file-outside-of-the-folder';
const outside = `export const secret = '${SECRET}';\nexport async function handler() { return secret; }\n`;
const inside = `export const secret = 'inside';\nexport async function handler() { return secret; }\n`;

const stage = await openStage(t, [], composeService, {
  pluginFiles: {
    'climbs.ts': `export { handler } from '../outside/secret.ts';\n`,
    'names.ts': `export { handler } from '/etc/passwd';\n`,
    'configured.ts': `export { secret } from '@outside/secret';\nexport async function handler() { return 'x'; }\n`,
    'tsconfig.json': JSON.stringify({ compilerOptions: { paths: { '@outside/*': ['../outside/*'] } } }),
    'package.json': JSON.stringify({
      scripts: { install: `echo ${SECRET}` },
      imports: { '#secret': '../outside/secret.ts' },
    }),
    'imports.ts': `export { handler } from '#secret';\n`,
    'swapped.ts': inside,
  },
  plugins: [{ id: 'swapped', path: 'swapped.ts' }],
});
const { service, workspace } = stage;
const at = (...path: string[]) => join(workspace.dir, ...path);
await mkdir(at('outside'));
await writeFile(at('outside', 'secret.ts'), outside);

t.test('threat 69: no path leads out of the plugins folder', { timeout: 60_000 }, async (t) => {
  // Threat: an import, a link, a tsconfig or a package.json brings in a file of the machine.
  await symlink(at('outside', 'secret.ts'), at('plugins', 'linked.ts'));
  await symlink(at('outside'), at('plugins', 'folder'));
  await workspace.writePlugin('through.ts', "export { handler } from './folder/secret.ts';\n");
  await new Promise((resolve) => setTimeout(resolve, 1500));
  for (const id of ['climbs', 'names', 'configured', 'imports', 'linked', 'through', 'folder']) {
    const { status, body } = await service.call(id);
    t.ok(
      status === 404 || /^(COMPILE_ERROR|PATH_TRAVERSAL)$/.test(body.data?.code),
      `${id}: ${status} ${JSON.stringify(body)}`,
    );
    t.notMatch(JSON.stringify(body), SECRET, id);
  }
  t.match(await service.call('honest'), { status: 200 });
});

t.test('threat 69: a file that is swapped for a link while it is read', { timeout: 60_000 }, async (t) => {
  // Threat: the path leads inside when it is checked, and outside when it is read.
  const target = at('plugins', 'swapped.ts');
  const end = performance.now() + 2000;
  let swaps = 0;
  const swapping = (async () => {
    while (performance.now() < end) {
      const next = at(`next-${swaps}`);
      if (swaps % 2 === 0) await symlink(at('outside', 'secret.ts'), next);
      else await writeFile(next, `${inside}// ${swaps}\n`);
      await rename(next, target);
      swaps++;
      await new Promise((resolve) => setTimeout(resolve, swaps % 7));
    }
  })();
  const said = new Set<string>();
  while (performance.now() < end) {
    const { body } = await service.call('swapped');
    said.add(JSON.stringify(body.data));
    t.notMatch(JSON.stringify(body), SECRET);
  }
  await swapping;
  t.ok(swaps > 20, `${swaps} swaps`);
  t.ok(said.has('"inside"'), [...said].join(' '));
  await rm(target);
});

t.test('threat 71: entries that contradict themselves are refused at the start', { timeout: 60_000 }, async (t) => {
  // Threat: two settings cancel each other out, and the access is open.
  const grant = (relayer: object | string[]) => ({ permissions: { relayers: { 'local-1': relayer } } });
  const contradictions: Record<string, [object, RegExp]> = {
    'a limit on what is sent without the right to send': [
      grant({ methods: ['read'], value_per_call: 5 }),
      /"send" is not among/,
    ],
    'a limit on what is sent beside the right to sign': [
      grant({ methods: ['send', 'sign'], value_per_hour: 5 }),
      /"sign" cannot stand beside/,
    ],
    'no recipient at all': [grant({ methods: ['send'], recipients: [] }), /recipients/],
    'every host, and private ones': [{ permissions: { hosts: [{ host: '*.example.com', private: true }] } }, /private/],
    'a host that is no host': [{ permissions: { hosts: ['http://*'] } }, /hosts/],
    'a misspelt permission': [{ permissions: { host: ['example.com'] } }, /host/],
    'a misspelt limit': [{ limits: { memory: 64 } }, /memory/],
    'a limit of nothing': [{ limits: { cpu_ms: 0 } }, /cpu_ms/],
    'a limit without a limit': [{ limits: { process_mb: 1e9 } }, /process_mb/],
    'an isolation that does not exist': [{ isolation: 'none' }, /isolation/],
    'a switch that would open the sandbox': [{ unsafe: true }, /unsafe/],
  };
  const workspace = await createWorkspace({
    plugins: Object.values(contradictions).map(([entry], index) => ({ id: `p${index}`, path: 'p.ts', ...entry })),
    pluginFiles: { 'p.ts': inside },
  });
  t.teardown(() => workspace.remove());
  const { code, output } = await startAndFail(workspace.env);
  t.not(code, 0);
  for (const [name, [, said]] of Object.entries(contradictions)) t.match(output, said, name);
  for (const index of Object.keys(contradictions).keys()) t.match(output, `plugins[${index}]`, 'with its place');

  const open = await createWorkspace({ env: { HOST: '0.0.0.0' } });
  t.teardown(() => open.remove());
  t.match(await startAndFail(open.env), { code: 1, output: /API_KEY/ }, 'open to the network without a key');
});
