import t from 'tap';
import {
  checkedUsages,
  computed,
  failing,
  makeKey,
  mustBe,
  partsOf,
} from '../../../../../../sandbox/guest/globals/subtle/algorithm.ts';
import { subtleTools } from '../../../../../support/guest-crypto.ts';

const tools = subtleTools();
const { fail } = tools;

t.test('failures have one name', (t) => {
  t.equal(
    failing(fail, 'DataError', () => 5),
    5,
  );
  t.throws(() => failing(fail, 'DataError', () => JSON.parse('{')), { name: 'DataError' });
  t.throws(() => computed(tools, { op: 'digest', hash: 'nope', data: '' }), { name: 'OperationError' });
  t.end();
});

t.test('usages are in order, and those that are allowed', (t) => {
  const request = { extractable: true, usages: ['verify', 'sign', 'sign'] };
  t.strictSame(checkedUsages(fail, request, ['sign', 'verify']), ['sign', 'verify']);
  t.throws(() => checkedUsages(fail, request, ['sign']), { name: 'SyntaxError' });
  const key = partsOf(
    makeKey({ type: 'public', extractable: true, algorithm: { name: 'x' }, usages: [], material: '' }),
  );
  if (key === undefined) throw new Error('no key');
  t.throws(() => mustBe(fail, key, 'private'), { name: 'InvalidAccessError' });
  t.doesNotThrow(() => mustBe(fail, key, 'public'));
  t.end();
});
