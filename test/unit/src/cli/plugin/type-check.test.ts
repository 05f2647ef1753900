import t from 'tap';
import { typeProblems } from '../../../../../src/cli/plugin/type-check.ts';

t.test('without a tsconfig.json nothing is checked, and that is said', async (t) => {
  t.match(await typeProblems(t.testdir({})), { problems: [], note: /npx isolayer plugin types/ });
});

t.test('the problems of the compiler are lines', async (t) => {
  const files = {
    'tsconfig.json': '{ "compilerOptions": { "strict": true, "types": [] } }',
    'a.ts': 'const n: number = "x";',
  };
  const { problems, note } = await typeProblems(t.testdir(files));
  t.equal(note, undefined);
  t.match(problems[0], /^a\.ts\(1,7\): error TS2322/);
});
