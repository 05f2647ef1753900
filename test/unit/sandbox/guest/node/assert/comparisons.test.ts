import { inspect } from 'node:util';
import t from 'tap';
import { createComparisons } from '../../../../../../sandbox/guest/lazy/assert.ts';

t.test('each has its name, which its error begins with', (t) => {
  const comparisons = createComparisons(inspect, inspect);
  for (const [name, assertion] of Object.entries(comparisons)) t.equal(assertion.name, name);
  try {
    comparisons.strictEqual(1, 2);
  } catch (error) {
    t.match((error as Error).stack, /\n {4}at .*comparisons\.test\.ts/);
    t.notMatch((error as Error).stack, 'guest/node/assert/comparisons.ts');
  }
  t.throws(() => comparisons.match(5, /x/), { operator: 'match', message: /must be of type string/ });
  t.end();
});
