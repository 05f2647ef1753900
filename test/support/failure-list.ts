import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Test } from 'tap';

/** A failure that other relayers have had, and the tests that show that it does not happen here. */
export interface Failure {
  what: string;
  /** Given if the thing that failed does not exist here. */
  why?: string;
  /** Files below `test/` without their ending, each with the titles of its tests. */
  shown: Readonly<Record<string, string | readonly string[]>>;
}

export interface FailureList {
  /** Parts of the list. No failure is in two parts. */
  parts: readonly Readonly<Record<string, Failure>>[];
  /** The names that the list has to have. */
  names: readonly string[];
  /** The folder, in suites of {@link SUITES}, with scenarios. Each shows a failure of the list. */
  scenarios: string;
}

/** Folders of scenarios, by how long they take. */
const SUITES = ['integration', 'slow'];

const TESTS = join(import.meta.dirname, '..');

/** Fails for a failure without a test, for a missing test, and for a scenario that shows nothing of the list. */
export function checkFailureList(t: Test, { parts, names, scenarios }: FailureList): void {
  const failures = Object.assign({}, ...parts) as Readonly<Record<string, Failure>>;
  const cited = Object.entries(failures).flatMap(([name, { shown }]) =>
    Object.entries(shown).flatMap(([file, titles]) => [titles].flat().map((title) => ({ name, file, title }))),
  );

  t.test('every failure is on the list once, with a test or more', async (t) => {
    t.strictSame(parts.flatMap((part) => Object.keys(part)).toSorted(), [...names].toSorted());
    for (const name of names)
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
    const files = await Array.fromAsync(glob(`{${SUITES.join()}}/${scenarios}/*.test.ts`, { cwd: TESTS }));
    t.ok(files.length > 2);
    for (const file of files.filter((file) => !file.endsWith('coverage.test.ts'))) {
      const path = file.replaceAll('\\', '/').replace('.test.ts', '');
      for (const title of await titlesIn(path)) {
        t.ok(
          cited.some((one) => one.file === path && one.title === title),
          `${path}: ${title}`,
        );
      }
    }
  });
}

/** The titles of a file's tests, as written in the file. */
async function titlesIn(file: string): Promise<Set<string>> {
  const endings = file.startsWith('support/') ? '.ts' : '.test.ts';
  const text = await readFile(join(TESTS, `${file}${endings}`), 'utf8');
  const titles = text.matchAll(/\btest\(\s*(['"`])((?:(?!\1).)*)\1/g);
  return new Set([...titles].map(([, , title = '']) => title));
}
