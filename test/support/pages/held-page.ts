import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { ROOT } from '../../../sandbox/test/support/sandbox.ts';

/** If this environment variable is set, pages are written again. */
const WRITES = 'ISOLAYER_WRITE_PAGES';

/** Asserts that a page of the docs says what a test has found. */
export function holdPage(t: Test, name: string, page: string): void {
  const path = join(ROOT, 'docs', name);
  if (process.env[WRITES] !== undefined) writeFileSync(path, page);
  t.equal(readFileSync(path, 'utf8'), page, `docs/${name} is as it was found; ${WRITES}=1 writes it anew`);
}
