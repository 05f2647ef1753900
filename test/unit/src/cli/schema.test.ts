import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createChains } from '../../../../src/chains/registry.ts';
import { configurationPage } from '../../../../src/cli/schema.ts';
import { systemClock } from '../../../../src/domain/clock.ts';
import { configurationSchema } from '../../../../src/settings/file-schema.ts';
import { createSignerKinds } from '../../../../src/signers/registry.ts';
import { runTyped } from '../../../support/command.ts';

t.test('writes both schemas into the folder of the configuration', async (t) => {
  const cwd = t.testdir({ settings: {} });
  const { code, said } = await runTyped(cwd, ['schema'], { CONFIG_DIR: 'settings' });
  t.equal(code, 0);
  for (const [name, title] of [
    ['schema.json', 'Isolayer configuration'],
    ['networks.schema.json', 'Isolayer network'],
  ] as const) {
    const file = join(cwd, 'settings', name);
    t.match(said, file);
    t.match(JSON.parse(readFileSync(file, 'utf8')), { title });
  }
});

t.test('a folder that is not there is said', async (t) => {
  t.match(await runTyped(t.testdir({}), ['schema']), { code: 1, complained: /ENOENT/ });
});

t.test('the page for people goes into docs/', async (t) => {
  const cwd = t.testdir({ docs: {} });
  t.match(await runTyped(cwd, ['schema', '--page']), { code: 0, said: /Written: .*docs.configuration\.md/ });
  t.match(readFileSync(join(cwd, 'docs', 'configuration.md'), 'utf8'), /^# Every field of the configuration\n/);
});

t.test('configuration page', async (t) => {
  const root = join(import.meta.dirname, '..', '..', '..', '..');
  const page = configurationPage(configurationSchema(createChains(systemClock), createSignerKinds()));

  t.test('docs/configuration.md is what the schemas say now; `npm run isolayer -- schema --page` writes it', (t) => {
    t.equal(readFileSync(join(root, 'docs', 'configuration.md'), 'utf8'), page);
    t.end();
  });

  t.test('every field has its meaning, and no field is left out', (t) => {
    const rows = [...page.matchAll(/^\| `([^`]+)` \| (.*?) \| (.*?) \| (live|restart) \| (.*) \|$/gm)];
    t.ok(rows.length > 100);
    for (const [, name = '', type = '', , , meaning = ''] of rows) {
      t.not(meaning, '', name);
      t.not(type, 'any', name);
    }
    const names = rows.map(([, name]) => name);
    for (const name of ['signing_key.value', 'custom_rpc_urls[].weight', 'permissions.relayers.<key>.methods']) {
      t.ok(names.includes(name), name);
    }
    t.end();
  });
});
