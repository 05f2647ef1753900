import t from 'tap';
import { typeProblems } from '../../../../../src/cli/plugin/type-check.ts';

t.test('without a tsconfig.json nothing is checked, and that is said', async (t) => {
  t.match(await typeProblems(t.testdir({})), { problems: [], note: /npx isolayer plugin types/ });
});
