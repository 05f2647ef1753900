import { checkFunction, nodeError, received, wrongType, wrongValue } from '../node-error.ts';
import { isDeepEqual } from '../tools/deep-equal.ts';
import { comparisonText, type Show } from './assertion-error.ts';
import { type AnyFunction, fail, type Inspect, type Message } from './failing.ts';

type Matcher = AnyFunction | RegExp | object | undefined;

/** A thrown value, and the matcher that judges it. */
interface Judged {
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
      fail({ operator, actual: thrown, expected: matcher, message, generated, from });
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
function createJudge(inspect: Inspect, show: Show): (judged: Judged) => void {
  function byObject(matcher: object, { thrown, failed }: Judged): void {
    const isError = matcher instanceof Error;
    if (!isError && Object.keys(matcher).length === 0) throw wrongValue('error', matcher, 'may not be an empty object');
    const names = [...Object.keys(matcher), ...(isError ? ['name', 'message'] : [])];
    for (const name of names) {
      const [is, should] = [thrown, matcher].map((one) => (one as Record<string, unknown> | null)?.[name]);
      if (typeof is === 'string' && should instanceof RegExp && should.test(is)) continue;
      if (!isDeepEqual(is, should, { strict: true })) {
        failed(comparisonText('deepStrictEqual', pick(thrown, names), pick(matcher, names), show));
      }
    }
  }

  function byFunction(matcher: AnyFunction, { thrown, failed }: Judged): void {
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

  return (judged) => {
    const { matcher, thrown, failed } = judged;
    if (matcher instanceof RegExp) {
      const text = String(thrown);
      if (matcher.test(text)) return;
      failed(`The input did not match the regular expression ${inspect(matcher)}. Input:\n\n${inspect(text)}\n`);
    } else if (typeof matcher === 'function') byFunction(matcher as AnyFunction, judged);
    else byObject(matcher, judged);
  };
}

function split([first, second]: unknown[]): [Matcher, Message] {
  return typeof first === 'string' ? [undefined, first] : [first as Matcher, second as Message];
}

function missing(matcher: Matcher, given: Message, operator: string, from: AnyFunction): never {
  const kind = typeof matcher === 'function' && matcher.name !== '' ? ` (${matcher.name})` : '';
  const said = typeof given === 'string' ? `: ${given}` : '.';
  const generated = `Missing expected ${operator === 'rejects' ? 'rejection' : 'exception'}${kind}${said}`;
  const message = given instanceof Error ? given : undefined;
  return fail({ operator, actual: undefined, expected: matcher, message, generated, from });
}

function unwanted(error: unknown, given: Message, operator: string, from: AnyFunction): never {
  const what = operator === 'doesNotReject' ? 'rejection' : 'exception';
  const said = typeof given === 'string' ? `: ${given}` : '.';
  const actual = (error as { message?: unknown } | null)?.message;
  const generated = `Got unwanted ${what}${said}\nActual message: "${String(actual)}"`;
  return fail({ operator, actual: error, expected: undefined, message: undefined, generated, from });
}

/** The given promise, or the promise that a given function returns. */
function promised(given: unknown): PromiseLike<unknown> {
  const promise = typeof given === 'function' ? (given as () => unknown)() : given;
  if (typeof (promise as PromiseLike<unknown> | undefined)?.then === 'function') return promise as PromiseLike<unknown>;
  if (typeof given !== 'function') throw wrongType('promiseFn', 'of type function or an instance of Promise', given);
  throw nodeError(
    'ERR_INVALID_RETURN_VALUE',
    `Expected instance of Promise to be returned from the "promiseFn" function but got ${received(promise)}.`,
    TypeError,
  );
}

function pick(value: unknown, names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, (value as Record<string, unknown> | null)?.[name]]));
}
