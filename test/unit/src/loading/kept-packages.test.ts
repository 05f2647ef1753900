/**
 * Kept packages are used only if they are complete and match the installed ones. A folder without write access keeps
 * nothing.
 */
import { readdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { readKept, writeKept } from '../../../../src/loading/kept-packages.ts';

const BUNDLED = {
  files: new Map([
    ['a.mjs', Buffer.from('export const a = 1;')],
    ['b.mjs', Buffer.from('export const b = 2;')],
  ]),
  entries: { 'file:///a/index.js': 'a.mjs' },
};

function installed(t: Test, lockfile = '{"packages":{}}'): string {
  return t.testdir({ '.package-lock.json': lockfile });
}

t.test('what is kept is found, once', (t) => {
  const folder = installed(t);
  t.equal(readKept(folder), undefined, 'nothing is kept yet');
  writeKept(BUNDLED, folder);
  writeKept(BUNDLED, folder);
  const kept = readKept(folder);
  t.strictSame(kept?.entries, BUNDLED.entries);
  t.strictSame(readdirSync(kept?.folder ?? '').sort(), ['a.mjs', 'b.mjs', 'manifest.json']);
  t.equal(readdirSync(join(folder, '.cache', 'isolayer')).length, 1, 'and nothing is left of the way to it');
  t.end();
});

t.test('other packages are other files, and the old ones are there for who runs with them', (t) => {
  const folder = installed(t);
  writeKept(BUNDLED, folder);
  const first = readKept(folder)?.folder;
  writeFileSync(join(folder, '.package-lock.json'), '{"packages":{"node_modules/zod":{}}}');
  t.equal(readKept(folder), undefined);
  writeKept(BUNDLED, folder);
  t.not(readKept(folder)?.folder, first);
  t.equal(readdirSync(join(folder, '.cache', 'isolayer')).length, 2);
  t.end();
});

const harm: Record<string, (kept: string) => void> = {
  'a file is cut short': (kept) => truncateSync(join(kept, 'b.mjs'), 5),
  'a file is another': (kept) => writeFileSync(join(kept, 'b.mjs'), 'export const b = 3;'),
  'a file is missing': (kept) => rmSync(join(kept, 'b.mjs')),
  'what names them is cut short': (kept) => truncateSync(join(kept, 'manifest.json'), 20),
  'what names them is missing': (kept) => rmSync(join(kept, 'manifest.json')),
  'it lies elsewhere': (kept) => renameSync(kept, `${kept}-elsewhere`),
};
for (const [what, spoil] of Object.entries(harm)) {
  t.test(`nothing is taken where ${what}, and it is mended by the next that keeps`, (t) => {
    const folder = installed(t);
    writeKept(BUNDLED, folder);
    spoil(readKept(folder)?.folder ?? '');
    t.equal(readKept(folder), undefined);
    writeKept(BUNDLED, folder);
    t.ok(readKept(folder));
    t.end();
  });
}

t.test('nothing is kept where npm did not say what it installed, or the folder is none', (t) => {
  t.throws(() => writeKept(BUNDLED, t.testdir({})), { code: 'ENOENT' });
  const folder = t.testdir({ '.package-lock.json': '{}', '.cache': 'a file' });
  t.throws(() => writeKept(BUNDLED, folder), { code: 'ENOTDIR' });
  t.equal(readKept(folder), undefined);
  t.end();
});
