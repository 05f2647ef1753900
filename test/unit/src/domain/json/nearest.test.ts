import t from 'tap';
import { didYouMean, nearestName } from '../../../../../src/domain/json/nearest.ts';

t.test('a slip finds the name that was meant', (t) => {
  const known = ['paused', 'policies', 'signer_id', 'name'];
  t.equal(nearestName('pausd', known), 'paused');
  t.equal(nearestName('signerId', known), 'signer_id');
  t.equal(nearestName('POLICIES', known), 'policies');
  t.equal(nearestName('nam', known), 'name');
  t.equal(nearestName('nmae', known), 'name', 'two letters exchanged');
  t.equal(nearestName('p'.repeat(1_000_000), known), undefined, 'and takes no time');
  t.equal(nearestName('policy', known), 'policies', 'a form of it');
  t.equal(nearestName('memory', ['kv_bytes', 'memory_mb']), 'memory_mb');
  t.equal(nearestName('pol', known), undefined, 'too short to be one');
  t.equal(didYouMean('polices', known), 'Did you mean "policies"?');
  t.end();
});

t.test('another word finds nothing', (t) => {
  for (const name of ['colour', 'x', '', 'relayers_and_more'])
    t.equal(nearestName(name, ['paused', 'policies']), undefined, name);
  t.equal(didYouMean('colour', []), undefined);
  t.end();
});
