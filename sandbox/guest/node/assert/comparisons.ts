import { nodeError, wrongType } from '../node-error.ts';
import { isDeepEqual } from '../tools/deep-equal.ts';
import { comparisonText, type Show, samenessText } from './assertion-error.ts';
import { type AnyFunction, fail, type Inspect, type Message } from './failing.ts';

type Holds = (a: unknown, b: unknown) => boolean;
type Comparing = (actual: unknown, expected: unknown, message?: Message) => void;

// oxlint-disable-next-line eqeqeq -- that is what it asserts
const looselySame: Holds = (a, b) => a == b || (Number.isNaN(a) && Number.isNaN(b));
const deep =
  (strict: boolean, partial = false): Holds =>
  (a, b) =>
    isDeepEqual(a, b, { strict, partial });
const not =
  (holds: Holds): Holds =>
  (a, b) =>
    !holds(a, b);

/** An assertion about two values, by the name that it has. */
function comparing(name: string, holds: Holds, text: (a: unknown, b: unknown) => string, operator = name): Comparing {
  const assertion = {
    [name](...given: unknown[]): void {
      const [actual, expected, message] = given as [unknown, unknown, Message];
      if (given.length < 2) {
        throw nodeError('ERR_MISSING_ARGS', 'The "actual" and "expected" arguments must be specified', TypeError);
      }
      if (holds(actual, expected)) return;
      const from = assertion[name] as AnyFunction;
      fail({ operator, actual, expected, message, generated: text(actual, expected), from });
    },
  };
  return assertion[name] as Comparing;
}

/** An assertion about a text and a pattern. */
function matching(name: string, shouldMatch: boolean, inspect: Inspect) {
  const wrong = shouldMatch
    ? 'The input did not match the regular expression'
    : 'The input was expected to not match the regular expression';
  const assertion = {
    [name](text: unknown, pattern: unknown, message?: Message): void {
      if (!(pattern instanceof RegExp)) throw wrongType('regexp', 'an instance of RegExp', pattern);
      if (typeof text === 'string' && pattern.test(text) === shouldMatch) return;
      const generated =
        typeof text === 'string'
          ? `${wrong} ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`
          : `The "string" argument must be of type string. Received type ${typeof text} (${inspect(text)})`;
      const from = assertion[name] as AnyFunction;
      fail({ operator: name, actual: text, expected: pattern, message, generated, from });
    },
  };
  return assertion[name] as (text: unknown, pattern: unknown, message?: Message) => void;
}

/** The assertions that compare a value with another one. */
export function createComparisons(inspect: Inspect, show: Show) {
  const differ = (operator: string) => (a: unknown, b: unknown) => comparisonText(operator, a, b, show);
  const alike = (operator: string) => (a: unknown) => samenessText(operator, a, show);
  const loose = (word: string) => (a: unknown, b: unknown) => `${inspect(a)} ${word} ${inspect(b)}`;
  const looseDeep = (a: unknown, b: unknown) =>
    `Expected values to be loosely deep-equal:\n\n${show(a)}\n\nshould loosely deep-equal\n\n${show(b)}`;
  return {
    equal: comparing('equal', looselySame, loose('=='), '=='),
    notEqual: comparing('notEqual', not(looselySame), loose('!='), '!='),
    deepEqual: comparing('deepEqual', deep(false), looseDeep),
    notDeepEqual: comparing('notDeepEqual', not(deep(false)), alike('notDeepEqual')),
    deepStrictEqual: comparing('deepStrictEqual', deep(true), differ('deepStrictEqual')),
    notDeepStrictEqual: comparing('notDeepStrictEqual', not(deep(true)), alike('notDeepStrictEqual')),
    partialDeepStrictEqual: comparing('partialDeepStrictEqual', deep(true, true), differ('partialDeepStrictEqual')),
    strictEqual: comparing('strictEqual', Object.is, differ('strictEqual')),
    notStrictEqual: comparing('notStrictEqual', not(Object.is), alike('notStrictEqual')),
    match: matching('match', true, inspect),
    doesNotMatch: matching('doesNotMatch', false, inspect),
  };
}
