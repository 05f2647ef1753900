import { accessSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import t from 'tap';
import { runtimeFiles } from '../../../../sandbox/confinement/runtime-files.ts';

t.test('node and the folders of its libraries, each once, and all of them are there', async (t) => {
  const files = runtimeFiles();
  t.equal(files[0], process.execPath);
  t.equal(new Set(files).size, files.length);
  t.ok(files.every(isAbsolute));
  t.notOk(files.includes('/'), 'the root folder would be everything');
  for (const file of files) t.doesNotThrow(() => accessSync(file));
});
