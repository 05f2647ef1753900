import { AssertionError } from './assertion-error.ts';

/** Shows a value as text. */
export type Inspect = (value: unknown, options?: object) => string;
export type AnyFunction = (...args: never[]) => unknown;
export type Message = string | Error | ((...args: unknown[]) => string) | undefined;

interface Failure {
  operator: string;
  actual: unknown;
  expected: unknown;
  message: Message;
  /** The message if the caller gives none. */
  generated: string;
  /** The function at which the stack begins. */
  from: AnyFunction;
}

/** Throws the error of an assertion that does not hold. */
export function fail({ operator, actual, expected, message, generated, from }: Failure): never {
  if (message instanceof Error) throw message;
  const text = typeof message === 'function' ? message(actual, expected) : message;
  throw new AssertionError({
    actual,
    expected,
    operator,
    stackStartFn: from,
    message: text ?? generated,
    generatedMessage: text === undefined,
  });
}
