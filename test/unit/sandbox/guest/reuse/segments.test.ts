import vm from 'node:vm';
import t from 'tap';
import { Freezer } from '../../../../../sandbox/guest/intrinsics/freeze.ts';
import { freezeSegments } from '../../../../../sandbox/guest/intrinsics/frozen-intrinsics.ts';

t.test('what a segmenter gives leads to nothing that is not frozen, and is what it always was', (t) => {
  const intl = vm.runInNewContext('Intl') as typeof Intl;
  freezeSegments(intl as never, new Freezer());
  const segmenter = new intl.Segmenter('en', { granularity: 'word' });
  const segments = segmenter.segment('two words');
  t.strictSame(
    Array.from(segments, ({ segment }) => segment),
    ['two', ' ', 'words'],
  );
  t.ok(Object.isFrozen(Object.getPrototypeOf(segments)));
  t.ok(Object.isFrozen(Object.getPrototypeOf(segments[Symbol.iterator]())));
  t.equal(intl.Segmenter.prototype.segment.name, 'segment');
  t.throws(() => intl.Segmenter.prototype.segment.call({} as never, 'a'), { name: 'TypeError' });
  freezeSegments({}, new Freezer());
  t.end();
});
