import node from 'node:assert';
import t from 'tap';
import { AssertionError, comparisonText, samenessText } from '../../../../../../sandbox/guest/node/assertion-error.ts';

t.test('an error has what Node’s has', (t) => {
  const options = { message: 'm', actual: 1, expected: 2, operator: 'equal' };
  const ours = new AssertionError(options);
  const theirs = new node.AssertionError(options);
  for (const name of ['name', 'code', 'message', 'actual', 'expected', 'operator', 'generatedMessage'] as const) {
    t.equal(ours[name], theirs[name], name);
  }
  t.equal(ours.toString(), theirs.toString());
  t.equal(new AssertionError({ actual: 1, expected: 2, operator: '==' }).message, '1 == 2');
  t.end();
});

t.test('values are compared line by line', (t) => {
  const show = String;
  t.equal(comparisonText('strictEqual', 1, 2, show), 'Expected values to be strictly equal:\n\n1 !== 2\n');
  t.equal(
    comparisonText('strictEqual', 'a\nb\nc', 'a\nx\nc', show),
    'Expected values to be strictly equal:\n+ actual - expected\n\n  a\n+ b\n- x\n  c\n',
  );
  t.match(comparisonText('deepStrictEqual', 'x\n'.repeat(300), 'y', show), /\n\+ x\n[^]*\n- y\n$/);
  t.equal(samenessText('notStrictEqual', 1, show), 'Expected "actual" to be strictly unequal to: 1');
  t.match(
    samenessText('notStrictEqual', {}, () => '{}'),
    /not to be reference-equal to "expected":\n\n\{\}\n/,
  );
  t.end();
});
