import t from 'tap';
import { idSchema, pluginIdSchema } from '../../../../src/domain/id.ts';

t.test('ids have 1 to 36 letters, digits, dashes and underscores', (t) => {
  for (const good of ['a', 'sepolia-1', 'A_b-9', 'x'.repeat(36)]) t.ok(idSchema.safeParse(good).success, good);
  for (const bad of ['', 'x'.repeat(37), 'a b', 'a/b', 'ä', '../x', 'a\n', 1, null]) {
    t.notOk(idSchema.safeParse(bad).success, JSON.stringify(bad));
  }
  t.end();
});

t.test('plugin ids may have dots inside and never look like a path or a hidden file', (t) => {
  for (const good of ['hello', 'my.plugin', 'a@1', '9lives']) t.ok(pluginIdSchema.safeParse(good).success, good);
  for (const bad of ['', '.hidden', '_private', '../x', 'a/b', 'a b', `${'x'.repeat(129)}`]) {
    t.notOk(pluginIdSchema.safeParse(bad).success, bad);
  }
  t.end();
});
