import { closeSync, fstatSync, readFileSync } from 'node:fs';
import t from 'tap';
import { unnamedFile } from '../../../../sandbox/confinement/unnamed-file.ts';

t.test('it holds what it was given, and nobody finds it by a name', async (t) => {
  const fd = unnamedFile(Buffer.from('filter'));
  t.teardown(() => closeSync(fd));
  t.equal(fstatSync(fd).nlink, 0);
  t.equal(readFileSync(fd, 'utf8'), 'filter');
});
