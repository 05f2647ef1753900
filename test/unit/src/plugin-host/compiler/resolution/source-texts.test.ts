import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { sourceTexts } from '../../../../../../src/plugin-host/compiler/resolution/source-texts.ts';
import { PluginFolder } from '../../../../../support/plugin-host.ts';

t.test('each file is read once, told of, and only where it may be read', async (t) => {
  const folder = new PluginFolder({ 'in/a.json': '{}', 'out.json': 'canary' });
  t.teardown(() => folder.remove());
  const inside = join(folder.path, 'in');
  symlinkSync(join(folder.path, 'out.json'), join(inside, 'link.json'));
  const told: string[] = [];
  const allowed = (file: string) => file.startsWith(inside);
  const read = sourceTexts(allowed, allowed, (file) => told.push(file));
  const file = join(inside, 'a.json');
  t.equal(await read(file), '{}');
  t.equal(await read(file), '{}');
  for (const name of ['link.json', 'none.json', '../out.json'])
    t.equal(await read(join(inside, name)), undefined, name);
  t.strictSame(told, [file]);
});
