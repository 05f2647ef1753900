/** The list of `npm test -- --times`: the slowest files, by a measure that does not depend on other load. */
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { FileOutcome } from '../run/outcome.ts';
import { describeTimes } from '../run/report.ts';
import { runSuites } from '../run/run-suites.ts';

const library = fileURLToPath(import.meta.resolve('tap'));

const works = `const end = process.cpuUsage().user + 300_000;
while (process.cpuUsage().user < end);`;

t.test('a file is charged with the processor time of what it started, and not with waiting', async (t) => {
  const root = t.testdir({
    'package.json': '{"type":"module"}',
    'waits.test.ts': "import t from 'tap';\nt.test('waits', async (t) => {\n  t.ok(true);\n});\n",
    'works.test.ts': `import { execFileSync } from 'node:child_process';
import t from 'tap';
execFileSync(process.execPath, ['-e', ${JSON.stringify(works)}]);
t.ok(true);
`,
  });
  const suite = { name: 'sample', folder: '.', secondsPerFile: 20 };
  const files = ['waits.test.ts', 'works.test.ts'];
  const all: FileOutcome[] = [];
  for await (const { each } of runSuites([{ suite, files }], { root, filesAtOnce: 1, library })) all.push(...each);
  t.match(all, [{ file: 'waits.test.ts' }, { file: 'works.test.ts' }]);
  if (process.platform === 'linux') t.ok((all[1]?.spent ?? 0) >= 0.3);
  else t.equal(all[1]?.spent, undefined);
});

t.test('those that took the most come first, and the sum last', (t) => {
  const ran = (file: string, seconds: number, spent?: number): FileOutcome => ({
    file,
    passed: 1,
    failures: [],
    output: '',
    began: 0,
    ended: seconds * 1000,
    spent,
  });
  t.equal(
    describeTimes([ran('a', 9, 0.25), ran('b', 2, 7), ran('c', 1.5)]),
    [
      'cpu secs     secs  file',
      '     7.0      2.0  b',
      '       ?      1.5  c',
      '     0.3      9.0  a',
      '     7.3     12.5  all 3',
    ].join('\n'),
  );
  const many = describeTimes(Array.from({ length: 100 }, (_, index) => ran(`file ${index}`, 1, index)));
  t.equal(many.split('\n').length, 1 + 30 + 1);
  t.match(many, /file 99\n.*file 98\n/);
  t.end();
});
