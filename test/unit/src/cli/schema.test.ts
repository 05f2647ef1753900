import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
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
