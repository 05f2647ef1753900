import ts from 'typescript';
import type { Rule, SourceFile } from './rule.ts';
import { isTableOfConstants, isTypeOnly, statementsOf } from './syntax.ts';

/** Sources without a unit test, each with the reason. Files that only have types and literals need no entry. */
export const withoutUnitTest: Readonly<Record<string, string>> = {
  'src/main.ts': 'process entry: it wires and starts; the end-to-end tests run it',
  'src/cli/main.ts': 'process entry: it passes on what was typed; the end-to-end tests run it',
  'src/loading/keep-packages.ts': 'process entry: it wires; the slow test of kept packages runs it',
  'src/loading/keep-later.ts':
    'it starts that process and leaves it: the slow test of kept packages sees what comes of it',
  'src/compose.ts': 'the object graph: it decides nothing; the end-to-end tests run it',
  'sandbox/driver/driver.ts':
    'thread entry: a terminated thread leaves no coverage; the sandbox integration tests run it',
  'sandbox/process/main.ts': 'process entry of the child: the sandbox integration tests run it',
};

/** Finds sources of `src/` and `sandbox/` without a unit test at the mirrored path and without an exemption. */
export const mirroredTests: Rule = (files) => {
  const paths = new Set(files.map(({ path }) => path));
  const sources = files.filter(({ path }) => /^(src|sandbox)\/.*(?<!\.d)\.ts$/.test(path));

  const untested = sources
    .filter(({ path }) => !(path in withoutUnitTest))
    .filter(({ path }) => !paths.has(mirrorOf(path)))
    .filter((file) => !onlyDeclares(file))
    .map(({ path }) => `${path} has no unit test at ${mirrorOf(path)}.`);
  const orphaned = [...paths]
    .filter((path) => /^test\/unit\/(src|sandbox)\/.*\.test\.ts$/.test(path))
    .filter((path) => !paths.has(path.slice('test/unit/'.length).replace(/\.test\.ts$/, '.ts')))
    .map((path) => `${path} mirrors no source.`);
  return [...untested, ...orphaned];
};

/** Finds exemptions of sources that no longer exist, or that now have a unit test. */
export const staleExemptions: Rule = (files) => {
  const paths = new Set(files.map(({ path }) => path));
  return Object.keys(withoutUnitTest)
    .filter((path) => !paths.has(path) || paths.has(mirrorOf(path)))
    .map((path) => `${path} is exempt from a unit test, but is gone or has one: take it off the list.`);
};

function mirrorOf(path: string): string {
  return `test/unit/${path.replace(/\.ts$/, '.test.ts')}`;
}

/** Whether a file holds nothing but types and tables of literals. */
function onlyDeclares(file: SourceFile): boolean {
  return statementsOf(file).every(
    (statement) => ts.isImportDeclaration(statement) || isTypeOnly(statement) || isTableOfConstants(statement),
  );
}
