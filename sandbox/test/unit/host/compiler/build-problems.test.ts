/** Threat: endless or very long errors, each of which quotes its source line. */
import t from 'tap';
import { buildProblems, compileFailure, problemLines } from '../../../../host/compiler/build-problems.ts';

const given = () => true;

const message = (text: string, file = 'a.ts') => ({
  id: '',
  pluginName: '',
  text,
  detail: undefined,
  notes: [],
  location: { file, namespace: '', line: 2, column: 3, length: 1, lineText: 'é x', suggestion: '' },
});

t.test('places count in characters from 1', async (t) => {
  t.strictSame(buildProblems([message('Unexpected ";"')], given), {
    problems: [{ text: 'Unexpected ";"', place: { file: 'a.ts', line: 2, column: 3 } }],
    total: 1,
  });
  t.strictSame(buildProblems([{ ...message('everywhere'), location: null }], given).problems, [
    { text: 'everywhere', place: null },
  ]);
});

t.test('an import of Node says why it is not there', async (t) => {
  const [node, missing] = buildProblems(
    [message('Could not resolve "node:fs"'), message('Could not resolve "left-pad"')],
    given,
  ).problems;
  t.match(node?.text, /Cannot import "node:fs", a module of Node\.js\. There are no files/);
  t.match(missing?.text, /Could not resolve "left-pad"/);
});

t.test('few of many are kept, and no more of each than is shown', async (t) => {
  const { problems, total } = buildProblems(
    Array.from({ length: 7000 }, () => message('x'.repeat(10_000), 'y.ts')),
    given,
  );
  t.equal(total, 7000);
  t.equal(problems.length, 5);
  t.ok(JSON.stringify(problems).length < 25_000);
});

t.test('no word is repeated of a file that the bundler read by itself', (t) => {
  const said = [message('Unexpected "canary"', 'x/package.json'), message('Unexpected "canary"', 'swapped.ts')];
  for (const [place, is] of [
    ['x/package.json', () => true],
    ['swapped.ts', (file: string) => file !== 'swapped.ts'],
  ] as const) {
    const { problems } = buildProblems(
      said.filter(({ location }) => location.file === place),
      is,
    );
    t.match(problems, [{ text: /^This file cannot be parsed/, place: { file: place, line: 2, column: 3 } }]);
  }
  t.end();
});

t.test('no word of output formats or of folders of the machine', async (t) => {
  const [awaits, path] = buildProblems(
    [
      message('Top-level await is currently not supported with the "iife" output format'),
      message('Could not read from file: /srv/app/node_modules/a/b.js'),
    ],
    given,
  ).problems;
  t.match(awaits?.text, /^Top-level await is not available: .* Await within the handler/);
  t.notMatch(awaits?.text, 'iife');
  t.equal(path?.text, 'Could not read from file: node_modules/a/b.js');
});

t.test('compile failure', async (t) => {
  const place = { file: 'a.ts', line: 2, column: 3 };

  t.test('names file, line, column and text', async (t) => {
    t.strictSame(compileFailure('p', { problems: [{ text: 'Unexpected ";"', place }], total: 1 }), {
      code: 'COMPILE_ERROR',
      message: 'Compilation failed: plugins/a.ts:2:3: Unexpected ";"',
      status: 500,
      details: { pluginId: 'p', file: 'plugins/a.ts', line: 2, column: 3 },
    });
  });

  t.test('says how many there are beyond those that it shows, and shows those without a place', async (t) => {
    const problems = [
      { text: 'one', place },
      { text: 'two', place: null },
    ];
    t.equal(problemLines({ problems, total: 9 }), 'plugins/a.ts:2:3: one\ntwo\nand 7 more');
    t.equal(problemLines({ problems, total: 2 }), 'plugins/a.ts:2:3: one\ntwo');
    t.strictSame(compileFailure('p', { problems: [{ text: 'no place', place: null }], total: 1 }), {
      code: 'COMPILE_ERROR',
      message: 'Compilation failed: no place',
      status: 500,
      details: { pluginId: 'p', file: null, line: null, column: null },
    });
  });
});
