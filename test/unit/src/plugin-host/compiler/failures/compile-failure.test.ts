import t from 'tap';
import { compileFailure, problemLines } from '../../../../../../src/plugin-host/compiler/failures/compile-failure.ts';

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
