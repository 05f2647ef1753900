import { join } from 'node:path';
import t from 'tap';
import { PluginFolder } from '../../../../../../../sandbox/test/support/plugin-folder.ts';
import { watchFolders } from '../../../../../../../src/features/plugins/host/catalog/folder-watch.ts';
import { eventually } from '../../../../../../support/eventually.ts';

t.test('tells of changes in the followed folders only', async (t) => {
  const folder = new PluginFolder({ 'a/x.ts': '1', 'b/x.ts': '1' });
  let changes = 0;
  const watch = watchFolders({ debounceMs: 10, pollMs: 600_000 }, () => changes++);
  t.teardown(() => folder.remove());
  t.teardown(() => watch.close());
  watch.follow([join(folder.path, 'a'), join(folder.path, 'missing')]);
  folder.write('a/x.ts', '2');
  t.ok(
    await eventually(
      () => changes,
      (count) => count > 0,
    ),
  );

  watch.follow([join(folder.path, 'b')]);
  const before = changes;
  folder.write('b/x.ts', '2');
  t.ok(
    await eventually(
      () => changes,
      (count) => count > before,
    ),
    'the new one is followed',
  );
});

t.test('polls where no event comes, until it is closed', async (t) => {
  let changes = 0;
  const watch = watchFolders({ debounceMs: 10, pollMs: 5 }, () => changes++);
  t.ok(
    await eventually(
      () => changes,
      (count) => count >= 2,
    ),
  );
  watch.close();
  watch.close();
  const before = changes;
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.equal(changes, before);
});
