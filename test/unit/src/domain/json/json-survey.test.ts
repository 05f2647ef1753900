import t from 'tap';
import { surveyJson } from '../../../../../src/domain/json/json-survey.ts';
import { fc, runsOf } from '../../../../support/properties.ts';

const ANY = Number.POSITIVE_INFINITY;
const survey = (text: string) => surveyJson(text, ANY, ANY);

/** The depth and the number of values that a recursive walk finds. */
function walked(value: unknown): { depth: number; values: number } {
  if (typeof value !== 'object' || value === null) return { depth: 0, values: 1 };
  const inside = Object.values(value).map(walked);
  const depth = 1 + Math.max(0, ...inside.map((one) => one.depth));
  return { depth, values: inside.reduce((sum, { values }) => sum + values, 1) };
}

t.test('it finds what a walk over the value finds, however the text is written', async (t) => {
  const property = fc.property(fc.json(), fc.nat(3), (text, indent) => {
    const value = JSON.parse(text) as unknown;
    const found = survey(JSON.stringify(value, null, indent));
    const { depth, values } = walked(value);
    return found.depth === depth && found.values === values;
  });
  t.doesNotThrow(() => fc.assert(property, { numRuns: runsOf(300) }));
});

t.test('texts are passed over, whatever is in them', async (t) => {
  t.match(survey(String.raw`["[{,:1\"", "\\", {"\\\"a": "1234567890123456"}]`), { depth: 2, values: 5 });
  t.equal(survey('"1234567890123456"').hasLongInteger, false);
  t.match(survey('"never closed'), { values: 1 });
});

t.test('a long integer is found outside of texts', async (t) => {
  for (const text of ['1234567890123456', '[-9007199254740993]', '{"a":12345678901234567890}']) {
    t.equal(survey(text).hasLongInteger, true, text);
  }
  for (const text of ['123456789012345', '[12345678,12345678]', '{"12345678901234567890":1}']) {
    t.equal(survey(text).hasLongInteger, false, text);
  }
});

t.test('it stops where a bound is exceeded', async (t) => {
  t.match(surveyJson('['.repeat(1_000), 10, ANY), { depth: 11 });
  t.ok(surveyJson('[1,1,1,1,1,1,1,1,1,1]', ANY, 3).values > 3);
  t.equal(surveyJson('{"a":1,"b":2}', ANY, 3).values, 3, 'keys are no values');
});
