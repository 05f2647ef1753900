import t from 'tap';
import { canonicalJson } from '../../../../../src/domain/json/canonical-json.ts';
import { fc, runsOf } from '../../../../support/properties.ts';

t.test('one text for all spellings of a value', (t) => {
  const spelt = (text: string) => canonicalJson(JSON.parse(text));
  t.equal(spelt('{ "b": [1, {"d":null,"c":"x"}], "a": 1e0 }'), '{"a":1,"b":[1,{"c":"x","d":null}]}');
  t.equal(spelt('{"10":1,"9":2}'), '{"10":1,"9":2}', 'keys that look like numbers are texts');
  t.equal(spelt('{"__proto__":1}'), '{"__proto__":1}');
  t.not(spelt('[1,2]'), spelt('[2,1]'));
  t.not(spelt('"1"'), spelt('1'));
  t.equal(canonicalJson({ a: undefined, b: 2n ** 70n }), `{"b":${2n ** 70n}}`);
  t.equal(canonicalJson(undefined), 'null');
  t.end();
});

t.test('it means what it was made from', (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      t.equal(canonicalJson(JSON.parse(canonicalJson(value))), canonicalJson(value));
      return JSON.stringify(JSON.parse(canonicalJson(value))).length === text.length;
    }),
    { numRuns: runsOf(200) },
  );
  t.end();
});
