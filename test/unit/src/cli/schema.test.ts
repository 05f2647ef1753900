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
