import { withoutComments } from './code.ts';
import type { Rule } from './rule.ts';

/** A file that only passes on what others export hides where things live, and ties knots of imports. */
export const noBarrels: Rule = (files) =>
  files
    .filter(({ path }) => /^(src|sandbox|demo|bench|test)\/.*\.ts$/.test(path))
    // The guest's importable specifiers exist to give a name to what is elsewhere.
    .filter(({ path }) => !path.startsWith('sandbox/guest/modules/'))
    .filter(({ text }) => isOnlyReExports(withoutComments(text)))
    .map(({ path }) => `${path} only re-exports; import from where things are.`);

function isOnlyReExports(code: string): boolean {
  const reExport = /export\s+(type\s+)?(\*(\s+as\s+\w+)?|\{[^}]*\})\s*from\s*['"][^'"]+['"]\s*;?/g;
  return reExport.test(code) && code.replace(reExport, '').trim() === '';
}
