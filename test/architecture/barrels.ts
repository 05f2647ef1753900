import ts from 'typescript';
import type { Rule, SourceFile } from './rule.ts';
import { statementsOf } from './syntax.ts';

/** A file that only passes on what others export hides where things live, and ties knots of imports. */
export const noBarrels: Rule = (files) =>
  files
    .filter(({ path }) => /^(src|sandbox|demo|bench|soak|gauntlet|test)\/.*\.ts$/.test(path))
    // The guest's importable specifiers exist to give a name to what is elsewhere.
    .filter(({ path }) => !path.startsWith('sandbox/guest/modules/'))
    .filter(isBarrel)
    .map(({ path }) => `${path} only re-exports; import from where things are.`);

function isBarrel(file: SourceFile): boolean {
  const statements = statementsOf(file);
  return (
    statements.some(ts.isExportDeclaration) &&
    statements.every((statement) => ts.isExportDeclaration(statement) || ts.isImportDeclaration(statement))
  );
}
