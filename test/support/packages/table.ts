import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stop } from 'esbuild';
import type { Test } from 'tap';
import { z } from 'zod';
import { GuestWorld } from '../../../sandbox/test/support/guest-isolate.ts';
import { ROOT } from '../../../sandbox/test/support/sandbox.ts';
import { PACKAGES } from './cases.ts';
import { type PackageFinding, PackageFolder } from './package-oracle.ts';

const PAGE = join(ROOT, 'docs', 'packages.md');
/** If this environment variable is set, the page is written again. */
const WRITES = 'ISOLAYER_WRITE_PAGES';

type Row = Pick<PackageFinding, 'name' | 'version' | 'runs' | 'isEqual'>;

/**
 * Runs each package of these groups in a plugin and in Node, and compares the results with the table in the docs. A
 * package may do better than the table says, until the table is written again. It may never do worse.
 */
export async function holdTable(t: Test, groups: readonly string[]): Promise<void> {
  // Our own texts for zod's faults hold for the whole process, and so for what runs in Node here.
  z.config(z.locales.en());
  const world = await GuestWorld.open();
  const folder = new PackageFolder();
  t.teardown(stop);
  t.teardown(() => folder.remove());
  let page = readFileSync(PAGE, 'utf8');
  for (const group of groups) {
    const findings: PackageFinding[] = [];
    for (const one of PACKAGES[group] ?? []) findings.push(await folder.finding(world, one));
    if (process.env[WRITES] !== undefined) page = withTable(page, group, findings);
    const told = rowsOf(page, group);
    t.strictSame(
      [...told.keys()],
      findings.map(({ name }) => name),
      `${group} has a row for each`,
    );
    for (const { name, version, bytes, runs, isEqual, trouble } of findings) {
      const row = told.get(name) ?? '';
      t.ok(row.startsWith(`| ${name} | ${version} |`), `${name}: the version`);
      const isTold = row === rowOf({ name, version, runs, isEqual }, bytes !== undefined);
      t.ok(isTold || isEqual, `${name}: ${trouble}`);
    }
  }
  if (process.env[WRITES] !== undefined) writeFileSync(PAGE, page);
}

/** Counts the rows that report full equality with Node, and all rows. */
export function countOf(page = readFileSync(PAGE, 'utf8')): { equal: number; all: number } {
  const rows = Object.keys(PACKAGES).flatMap((group) => [...rowsOf(page, group).values()]);
  return { equal: rows.filter((row) => row.endsWith('| yes | yes | yes |')).length, all: rows.length };
}

function rowOf({ name, version, runs, isEqual }: Row, bundles = true): string {
  const word = (is: boolean) => (is ? 'yes' : 'not yet');
  return `| ${name} | ${version} | ${word(bundles)} | ${word(runs)} | ${word(isEqual)} |`;
}

function rowsOf(page: string, group: string): Map<string, string> {
  const [, text = ''] = page.split(`\n## ${group}\n`);
  const rows = (text.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| '));
  return new Map(rows.slice(2).map((row) => [row.split(' | ')[0]?.slice(2) ?? '', row]));
}

function withTable(page: string, group: string, findings: readonly PackageFinding[]): string {
  const [before = '', ...rest] = page.split(`\n## ${group}\n`);
  const after = rest.join('').split('\n## ').slice(1);
  const table = [
    '| package | version | bundles | runs | as in Node |',
    '| --- | --- | --- | --- | --- |',
    ...findings.map((finding) => rowOf(finding, finding.bytes !== undefined)),
  ];
  return [`${before}\n## ${group}\n\n${table.join('\n')}\n`, ...after].join('\n## ');
}
