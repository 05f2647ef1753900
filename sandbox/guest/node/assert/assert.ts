import { checkString } from '../node-error.ts';
import { AssertionError, type Show } from './assertion-error.ts';
import { createComparisons } from './comparisons.ts';
import { fail, type Inspect, type Message } from './failing.ts';
import { createThrowing } from './thrown.ts';

const SHOWN = {
  compact: false,
  customInspect: false,
  depth: 1000,
  maxArrayLength: Number.POSITIVE_INFINITY,
  showHidden: false,
  showProxy: false,
  sorted: true,
  getters: true,
};

/** Makes Node's module `assert` (https://nodejs.org/api/assert.html). */
export function createAssert(inspect: Inspect) {
  const show: Show = (value) => inspect(value, SHOWN);
  const { equal, notEqual, deepEqual, notDeepEqual, ...comparisons } = createComparisons(inspect, show);

  function ok(...given: unknown[]): void {
    const [value, message] = given as [unknown, Message];
    if (value) return;
    const generated =
      given.length === 0 ? 'No value argument passed to `assert.ok()`' : 'The expression evaluated to a falsy value';
    fail({ operator: '==', actual: value, expected: true, message, generated, from: ok });
  }

  function ifError(error: unknown): void {
    if (error === null || error === undefined) return;
    const isNamed = typeof error === 'object' && 'message' in error;
    const said = isNamed ? String((error as Error).message || error.constructor?.name) : inspect(error);
    const generated = `ifError got unwanted exception: ${said}`;
    fail({ operator: 'ifError', actual: error, expected: null, message: undefined, generated, from: ifError });
  }

  function failed(message?: Message): never {
    if (message instanceof Error) throw message;
    if (message !== undefined) checkString(message, 'message');
    return fail({
      operator: 'fail',
      actual: undefined,
      expected: undefined,
      message,
      generated: 'Failed',
      from: failed,
    });
  }

  const shared = { AssertionError, ok, fail: failed, ifError, ...createThrowing(inspect, show), ...comparisons };
  const { deepStrictEqual, notDeepStrictEqual, strictEqual, notStrictEqual } = comparisons;
  const strict = Object.assign((...given: unknown[]) => ok(...given), shared, {
    equal: strictEqual,
    notEqual: notStrictEqual,
    deepEqual: deepStrictEqual,
    notDeepEqual: notDeepStrictEqual,
  });
  return Object.assign((...given: unknown[]) => ok(...given), shared, {
    equal,
    notEqual,
    deepEqual,
    notDeepEqual,
    strict: Object.assign(strict, { strict }),
  });
}
