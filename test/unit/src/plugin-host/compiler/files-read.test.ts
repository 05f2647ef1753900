/** Threat: an import leads to a device, a pipe, a link or an endless file. */
import { execFileSync } from 'node:child_process';
import {
  linkSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { areUnchanged, readSource } from '../../../../../src/plugin-host/compiler/files-read.ts';

t.test('an ordinary file that is allowed is read, and whatever else is told', { timeout: 20_000 }, async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'isolayer-')));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const at = (name: string) => join(folder, name);
  writeFileSync(at('a.ts'), 'export {};');
  writeFileSync(at('large.ts'), '');
  truncateSync(at('large.ts'), 16 * 1_048_576 + 1);
  symlinkSync(at('a.ts'), at('link.ts'));
  symlinkSync('/dev/zero', at('zero.ts'));
  execFileSync('mkfifo', [at('pipe.ts')]);
  writeFileSync(at('shared.ts'), 'export {};');
  linkSync(at('shared.ts'), at('again.ts'));
  const inside = (file: string) => file.startsWith(`${folder}/`);
  const own = () => false;

  const read = await readSource(at('a.ts'), inside, own);
  if (typeof read === 'string') throw new Error(read);
  t.equal(read.bytes.toString(), 'export {};');
  for (const [name, reason] of [
    ['pipe.ts', /no ordinary file/],
    ['large.ts', /16777217 bytes, more than 16777216/],
    ['link.ts', /Could not read/],
    ['zero.ts', /Could not read/],
    ['nowhere.ts', /Could not read/],
    ['shared.ts', /shared\.ts has 2 names/],
    ['again.ts', /again\.ts has 2 names/],
    ['../outside.ts', /out of the plugins folder/],
  ] as const) {
    t.match(await readSource(at(name), inside, own), reason, name);
  }
  t.match(await readSource(at('shared.ts'), inside, () => true), { state: /./ }, 'as package managers make them');
});

t.test('a file that was written to or is gone has changed', async (t) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'isolayer-')));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'a.ts');
  writeFileSync(file, 'one');
  const read = await readSource(
    file,
    () => true,
    () => false,
  );
  if (typeof read === 'string') throw new Error(read);
  const states = new Map([[file, read.state]]);
  t.equal(await areUnchanged(states), true);
  utimesSync(file, 1, 1);
  t.equal(await areUnchanged(states), false, 'written');
  rmSync(file);
  t.equal(await areUnchanged(states), false, 'gone');
});
