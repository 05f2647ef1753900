/**
 * The list of sandbox threats. For each row, a named test shows that it is contained, or a sentence explains the
 * exception. Fails for a row without either, a missing test, a test that belongs to no row, and an attack that no test
 * runs.
 */
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { ATTACKS } from '../../support/attacks/attacks.ts';
import { ROWS } from './rows.ts';

const TESTS = join(import.meta.dirname, '..', '..');
/** Numbers that the list skips. */
const MISSING = new Set([11, 19, 21, 24, 27, 36, 37, 41, 47, 54, 55, 61, 63, 66, 70]);
const LAST = 74;
const MIN_ATTACKS = 180;
const MIN_REASON = 80;

const cited = Object.entries(ROWS).flatMap(([row, { shown = {} }]) =>
  Object.entries(shown).flatMap(([file, titles]) => [titles].flat().map((title) => ({ row, file, title }))),
);

/** The titles of the tests in a file. */
async function titlesIn(file: string): Promise<Set<string>> {
  const text = await readFile(join(TESTS, `${file}.test.ts`), 'utf8');
  const titles = text.matchAll(/\btest\(\s*(['"`])((?:(?!\1).)*)\1/g);
  return new Set([...titles].map(([, , title = '']) => title));
}

t.test('every row is shown, or it is said why not', async (t) => {
  const numbers = Array.from({ length: LAST }, (_, index) => index + 1).filter((row) => !MISSING.has(row));
  t.strictSame(Object.keys(ROWS).map(Number), numbers);
  for (const [row, { shown, differs }] of Object.entries(ROWS)) {
    t.ok(shown !== undefined || differs !== undefined, row);
    if (differs !== undefined) t.ok(differs.length >= MIN_REASON, `${row}: ${differs}`);
  }
});

t.test('every test that is named stands in its file', async (t) => {
  const files = [...new Set(cited.map(({ file }) => file))];
  const titles = new Map(await Promise.all(files.map(async (file) => [file, await titlesIn(file)] as const)));
  for (const { row, file, title } of cited) t.ok(titles.get(file)?.has(title), `${row}: ${file}: ${title}`);
});

t.test('every test of a threat stands in the row whose number it has', async (t) => {
  const files = await Array.fromAsync(glob('{integration,slow}/threats/*.test.ts', { cwd: TESTS }));
  let found = 0;
  for (const file of files) {
    const path = file.replaceAll('\\', '/').replace('.test.ts', '');
    for (const title of await titlesIn(path)) {
      const [, number] = /^threat (\d+): /.exec(title) ?? [];
      if (number === undefined) continue;
      found++;
      t.ok(
        cited.some((one) => one.row === number && one.file === path && one.title === title),
        `${path}: ${title}`,
      );
    }
  }
  t.ok(found > 70, `${found} tests`);
});

t.test('the attacks are many, each with a name of its own and a row that exists', async (t) => {
  t.ok(ATTACKS.length >= MIN_ATTACKS, `${ATTACKS.length} attacks`);
  t.equal(new Set(ATTACKS.map(({ name }) => name)).size, ATTACKS.length);
  for (const { name, threat, ends } of ATTACKS) {
    t.ok(threat === null || threat in ROWS, name);
    t.ok(ends.length > 0, name);
  }
  const classes = new Set(ATTACKS.flatMap(({ recovery }) => recovery ?? []));
  t.strictSame([...classes].sort(), ['R0', 'R1', 'R2', 'R3', 'R4']);
});
