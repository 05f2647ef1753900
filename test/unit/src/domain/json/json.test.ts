import t from 'tap';
import { isObject } from '../../../../../src/domain/json/json.ts';

t.test('what has keys is an object, lists and null have none', (t) => {
  for (const value of [{}, { a: 1 }, Object.create(null), new Date(0)]) t.ok(isObject(value));
  for (const value of [null, undefined, [], [{}], 'text', 1, true, () => {}]) t.notOk(isObject(value));
  t.end();
});
