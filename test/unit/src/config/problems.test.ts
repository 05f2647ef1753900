import t from 'tap';
import { ConfigurationError, Findings, textOf } from '../../../../src/config/problems.ts';

t.test('a problem is one line: place, fault, advice', (t) => {
  t.equal(textOf({ file: 'f', path: 'a[0].b', message: 'wrong', advice: 'Do this' }), 'f: a[0].b: wrong. Do this');
  t.equal(textOf({ file: 'f', path: '', message: 'wrong' }), 'f: wrong');
  t.end();
});

t.test('the error names all of them', (t) => {
  const findings = new Findings();
  findings.settle();
  findings.warn('f', 'w', 'odd');
  findings.settle();
  findings.problem('f', 'a', 'wrong');
  findings.problem('g', '', 'missing', 'Make it');
  t.throws(() => findings.settle(), new ConfigurationError(findings.problems));
  t.equal(
    new ConfigurationError(findings.problems).message,
    'The configuration has 2 problems:\n  - f: a: wrong\n  - g: missing. Make it',
  );
  t.match(new ConfigurationError(findings.problems.slice(0, 1)).message, /^The configuration has one problem:\n/);
  t.end();
});
