import ts from 'typescript';
import type { Rule, SourceFile } from './rule.ts';
import { statementsOf } from './syntax.ts';

/** Finds files that only re-export. They hide where the code is, and lead to import cycles. */
export const noBarrels: Rule = (files) =>
  files
    .filter(({ path }) => /^(src|sandbox|test)\/.*\.ts$/.test(path))
    // These modules are the specifiers that a guest can import. Re-exporting is their purpose.
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
