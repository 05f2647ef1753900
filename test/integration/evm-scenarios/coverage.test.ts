/**
 * The list of failures that relayers of this kind have had: each is shown not to happen by a named test, and the list
 * says which. A failure without a test, a test that is gone and a scenario that shows nothing of the list fail here.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { SERVICE_FAILURES } from './service-failures.ts';
import { TRANSACTION_FAILURES } from './transaction-failures.ts';

const TESTS = join(import.meta.dirname, '..', '..');
const FAILURES = 85;
const failures = { ...TRANSACTION_FAILURES, ...SERVICE_FAILURES };
const cited = Object.entries(failures).flatMap(([name, { shown }]) =>
  Object.entries(shown).flatMap(([file, titles]) => [titles].flat().map((title) => ({ name, file, title }))),
);

/** The titles of a file's tests, as they stand there. */
async function titlesIn(file: string): Promise<Set<string>> {
  const endings = file.startsWith('support/') ? '.ts' : '.test.ts';
  const text = await readFile(join(TESTS, `${file}${endings}`), 'utf8');
  const titles = text.matchAll(/\btest\(\s*(['"`])((?:(?!\1).)*)\1/g);
  return new Set([...titles].map(([, , title = '']) => title));
}

t.test('every failure is on the list once, with a test or more', async (t) => {
  const numbers = Array.from({ length: FAILURES }, (_, index) => String(index + 1));
  t.strictSame(Object.keys(failures), [...numbers, 'first invariant', 'second invariant']);
  const both = Object.keys(TRANSACTION_FAILURES).filter((name) => name in SERVICE_FAILURES);
  t.strictSame(both, []);
  for (const name of Object.keys(failures))
    t.ok(
      cited.some((one) => one.name === name),
      name,
    );
});

t.test('every test that is named stands in its file', async (t) => {
  const files = [...new Set(cited.map(({ file }) => file))];
  const titles = new Map(await Promise.all(files.map(async (file) => [file, await titlesIn(file)] as const)));
  for (const { name, file, title } of cited) t.ok(titles.get(file)?.has(title), `${name}: ${file}: ${title}`);
});

t.test('every scenario shows something of the list', async (t) => {
  const files = (await readdir(import.meta.dirname)).filter((file) => file.endsWith('.test.ts'));
  t.ok(files.length > 4);
  for (const file of files.filter((file) => file !== 'coverage.test.ts')) {
    const path = `integration/evm-scenarios/${file.replace('.test.ts', '')}`;
    for (const title of await titlesIn(path)) {
      t.ok(
        cited.some((one) => one.file === path && one.title === title),
        `${path}: ${title}`,
      );
    }
  }
});
