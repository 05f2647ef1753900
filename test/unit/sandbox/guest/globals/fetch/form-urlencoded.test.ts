import t from 'tap';
import { parseForm, serializeForm } from '../../../../../../sandbox/guest/globals/url/query-list.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';

t.test('agrees with the engine', (t) => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('%', '%4', '%zz', '%C3%A9', '%ff', '+', '&=', '=&', '%41=%26'),
  );
  fc.assert(
    fc.property(fc.array(text), (pieces) => {
      const query = pieces.join('&');
      const native = [...new URLSearchParams(`?${query}`)];
      return (
        JSON.stringify(parseForm(query)) === JSON.stringify(native) &&
        serializeForm(native) === String(new URLSearchParams(native))
      );
    }),
    { numRuns: runsOf(500) },
  );
  t.strictSame(parseForm('a=1&&b&=c&d=e=f&x=%C3%A9+y&bad=%ff%'), [
    ['a', '1'],
    ['b', ''],
    ['', 'c'],
    ['d', 'e=f'],
    ['x', 'é y'],
    ['bad', '\ufffd%'],
  ]);
  t.equal(serializeForm([['a b', 'é&=*-._~']]), 'a+b=%C3%A9%26%3D*-._%7E');
  t.end();
});
