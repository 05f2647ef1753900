import type { RuntimeServices } from '../lazy-module-loader.ts';
import {
  type AnyFunction,
  AssertionError,
  type AssertionMessage,
  comparisonText,
  type Inspect,
  type Show,
  samenessText,
  throwAssertionError,
} from '../node/assertion-error.ts';
import { isDeepEqual } from '../node/deep-equal.ts';
import {
  checkFunction,
  checkString,
  describeReceived,
  invalidArgType,
  invalidArgValue,
  nodeError,
} from '../node/node-error.ts';

type Holds = (a: unknown, b: unknown) => boolean;

type Comparing = (actual: unknown, expected: unknown, message?: AssertionMessage) => void;

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
      const [actual, expected, message] = given as [unknown, unknown, AssertionMessage];
      if (given.length < 2) {
        throw nodeError('ERR_MISSING_ARGS', 'The "actual" and "expected" arguments must be specified', TypeError);
      }
      if (holds(actual, expected)) return;
      const from = assertion[name] as AnyFunction;
      throwAssertionError({ operator, actual, expected, message, generated: text(actual, expected), from });
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
    [name](text: unknown, pattern: unknown, message?: AssertionMessage): void {
      if (!(pattern instanceof RegExp)) throw invalidArgType('regexp', 'an instance of RegExp', pattern);
      if (typeof text === 'string' && pattern.test(text) === shouldMatch) return;
      const generated =
        typeof text === 'string'
          ? `${wrong} ${inspect(pattern)}. Input:\n\n${inspect(text)}\n`
          : `The "string" argument must be of type string. Received type ${typeof text} (${inspect(text)})`;
      const from = assertion[name] as AnyFunction;
      throwAssertionError({ operator: name, actual: text, expected: pattern, message, generated, from });
    },
  };
  return assertion[name] as (text: unknown, pattern: unknown, message?: AssertionMessage) => void;
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

type Matcher = AnyFunction | RegExp | object | undefined;

/** A thrown value, and the matcher that judges it. */
interface Judgement {
  thrown: unknown;
  matcher: Exclude<Matcher, undefined>;
  failed(generated: string): never;
}

type Caught = { error: unknown } | undefined;

/** The assertions about what a function or a promise throws. */
export function createThrowing(inspect: Inspect, show: Show) {
  const judge = createJudge(inspect, show);

  /** Fails if nothing was thrown, or if the thrown value is not the expected one. */
  function shouldThrow(caught: Caught, operator: string, from: AnyFunction, given: unknown[]): void {
    const [matcher, message] = split(given);
    if (caught === undefined) return missing(matcher, message, operator, from);
    if (matcher === undefined) return;
    const { error: thrown } = caught;
    const failed = (generated: string) =>
      throwAssertionError({ operator, actual: thrown, expected: matcher, message, generated, from });
    judge({ thrown, matcher, failed });
  }

  function throws(run: unknown, ...given: unknown[]): void {
    checkFunction(run, 'fn');
    let caught: Caught;
    try {
      run();
    } catch (error) {
      caught = { error };
    }
    shouldThrow(caught, 'throws', throws, given);
  }

  async function rejects(given: unknown, ...more: unknown[]): Promise<void> {
    const promise = promised(given);
    let caught: Caught;
    try {
      await promise;
    } catch (error) {
      caught = { error };
    }
    shouldThrow(caught, 'rejects', rejects, more);
  }

  function doesNotThrow(run: unknown, ...given: unknown[]): void {
    checkFunction(run, 'fn');
    try {
      run();
    } catch (error) {
      unwanted(error, split(given)[1], 'doesNotThrow', doesNotThrow);
    }
  }

  async function doesNotReject(given: unknown, ...more: unknown[]): Promise<void> {
    const promise = promised(given);
    try {
      await promise;
    } catch (error) {
      unwanted(error, split(more)[1], 'doesNotReject', doesNotReject);
    }
  }

  return { throws, rejects, doesNotThrow, doesNotReject };
}

/** Makes the function that judges a thrown value by a pattern, an object, a class or a function. */
function createJudge(inspect: Inspect, show: Show): (judgement: Judgement) => void {
  function byObject(matcher: object, { thrown, failed }: Judgement): void {
    const isError = matcher instanceof Error;
    if (!isError && Object.keys(matcher).length === 0)
      throw invalidArgValue('error', matcher, 'may not be an empty object');
    const names = [...Object.keys(matcher), ...(isError ? ['name', 'message'] : [])];
    for (const name of names) {
      const [is, should] = [thrown, matcher].map((one) => (one as Record<string, unknown> | null)?.[name]);
      if (typeof is === 'string' && should instanceof RegExp && should.test(is)) continue;
      if (!isDeepEqual(is, should, { strict: true })) {
        failed(comparisonText('deepStrictEqual', pick(thrown, names), pick(matcher, names), show));
      }
    }
  }

  function byFunction(matcher: AnyFunction, { thrown, failed }: Judgement): void {
    if (matcher.prototype !== undefined && thrown instanceof (matcher as unknown as new () => object)) return;
    if (Object.prototype.isPrototypeOf.call(Error, matcher)) {
      const { name, message } = thrown as Error;
      const kind = (thrown as object | null)?.constructor?.name ?? name;
      failed(
        `The error is expected to be an instance of "${matcher.name}". Received "${kind}"\n\nError message:\n\n${message}`,
      );
    }
    const answer = (matcher as (error: unknown) => unknown)(thrown);
    if (answer === true) return;
    const named = matcher.name === '' ? '' : `"${matcher.name}" `;
    const expected = `The ${named}validation function is expected to return "true". Received ${inspect(answer)}`;
    failed(`${expected}\n\nCaught error:\n\n${inspect(thrown)}`);
  }

  return (judgement) => {
    const { matcher, thrown, failed } = judgement;
    if (matcher instanceof RegExp) {
      const text = String(thrown);
      if (matcher.test(text)) return;
      failed(`The input did not match the regular expression ${inspect(matcher)}. Input:\n\n${inspect(text)}\n`);
    } else if (typeof matcher === 'function') byFunction(matcher as AnyFunction, judgement);
    else byObject(matcher, judgement);
  };
}

function split([first, second]: unknown[]): [Matcher, AssertionMessage] {
  return typeof first === 'string' ? [undefined, first] : [first as Matcher, second as AssertionMessage];
}

function missing(matcher: Matcher, given: AssertionMessage, operator: string, from: AnyFunction): never {
  const kind = typeof matcher === 'function' && matcher.name !== '' ? ` (${matcher.name})` : '';
  const detail = typeof given === 'string' ? `: ${given}` : '.';
  const generated = `Missing expected ${operator === 'rejects' ? 'rejection' : 'exception'}${kind}${detail}`;
  const message = given instanceof Error ? given : undefined;
  return throwAssertionError({ operator, actual: undefined, expected: matcher, message, generated, from });
}

function unwanted(error: unknown, given: AssertionMessage, operator: string, from: AnyFunction): never {
  const what = operator === 'doesNotReject' ? 'rejection' : 'exception';
  const detail = typeof given === 'string' ? `: ${given}` : '.';
  const actual = (error as { message?: unknown } | null)?.message;
  const generated = `Got unwanted ${what}${detail}\nActual message: "${String(actual)}"`;
  return throwAssertionError({ operator, actual: error, expected: undefined, message: undefined, generated, from });
}

/** The given promise, or the promise that a given function returns. */
function promised(given: unknown): PromiseLike<unknown> {
  const promise = typeof given === 'function' ? (given as () => unknown)() : given;
  if (typeof (promise as PromiseLike<unknown> | undefined)?.then === 'function') return promise as PromiseLike<unknown>;
  if (typeof given !== 'function')
    throw invalidArgType('promiseFn', 'of type function or an instance of Promise', given);
  throw nodeError(
    'ERR_INVALID_RETURN_VALUE',
    `Expected instance of Promise to be returned from the "promiseFn" function but got ${describeReceived(promise)}.`,
    TypeError,
  );
}

function pick(value: unknown, names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, (value as Record<string, unknown> | null)?.[name]]));
}

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
    const [value, message] = given as [unknown, AssertionMessage];
    if (value) return;
    const generated =
      given.length === 0 ? 'No value argument passed to `assert.ok()`' : 'The expression evaluated to a falsy value';
    throwAssertionError({ operator: '==', actual: value, expected: true, message, generated, from: ok });
  }

  function ifError(error: unknown): void {
    if (error === null || error === undefined) return;
    const isNamed = typeof error === 'object' && 'message' in error;
    const detail = isNamed ? String((error as Error).message || error.constructor?.name) : inspect(error);
    const generated = `ifError got unwanted exception: ${detail}`;
    throwAssertionError({
      operator: 'ifError',
      actual: error,
      expected: null,
      message: undefined,
      generated,
      from: ifError,
    });
  }

  function failed(message?: AssertionMessage): never {
    if (message instanceof Error) throw message;
    if (message !== undefined) checkString(message, 'message');
    return throwAssertionError({
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

/** Node's module `assert`. */
export function create({ large }: RuntimeServices): Record<string, unknown> {
  return { assert: createAssert(large('inspect')['inspect'] as Parameters<typeof createAssert>[0]) };
}
