import t from 'tap';
import { Findings, textOf } from '../../../../src/config/problems.ts';
import { readVariables } from '../../../../src/config/variables.ts';

t.test('the environment wins over the file', async (t) => {
  const dir = t.testdir({ '.env': '# comment\nA=file\nB="two words"\n' });
  t.strictSame(await readVariables({ A: 'real' }, dir, new Findings()), { A: 'real', B: 'two words' });
});

t.test('no file is fine, an unreadable one is not', async (t) => {
  t.strictSame(await readVariables({ A: 'real' }, t.testdir({}), new Findings()), { A: 'real' });
  const findings = new Findings();
  await readVariables({}, t.testdir({ '.env': {} }), findings);
  t.strictSame(findings.problems.map(textOf), ['.env: cannot be read (EISDIR)']);
});
