/** An error as Node's own modules throw it. It has a `code`, which the stack shows after the name. */
export type NodeError = Error & { code: string };

type ErrorClass = new (message: string) => Error;

/** Makes an error of a class with one of Node's codes (https://nodejs.org/api/errors.html#nodejs-error-codes). */
export function nodeError(code: string, message: string, Kind: ErrorClass = Error): NodeError {
  const error = new Kind(message) as NodeError;
  Error.captureStackTrace(error, nodeError);
  const { name } = error;
  // The engine writes the stack when it is first read, with the name that the error has then.
  Object.defineProperty(error, 'name', { value: `${name} [${code}]`, configurable: true, writable: true });
  void error.stack;
  Reflect.deleteProperty(error, 'name');
  error.code = code;
  return error;
}

/** Node's error for an argument of the wrong type. */
export function invalidArgType(name: string, expected: string, given: unknown): NodeError {
  return nodeError(
    'ERR_INVALID_ARG_TYPE',
    `The ${named(name)} must be ${expected}. Received ${describeReceived(given)}`,
    TypeError,
  );
}

/** Node's error for a number that is too small, too large or broken. */
export function outOfRange(name: string, range: string, given: unknown): NodeError {
  return nodeError(
    'ERR_OUT_OF_RANGE',
    `The value of "${name}" is out of range. It must be ${range}. Received ${shownNumber(given)}`,
    RangeError,
  );
}

/** Node's error for an argument of the right type with a wrong value. */
export function invalidArgValue(name: string, given: unknown, reason = 'is invalid'): NodeError {
  const what = name.includes('.') ? 'property' : 'argument';
  return nodeError('ERR_INVALID_ARG_VALUE', `The ${what} '${name}' ${reason}. Received ${literal(given)}`, TypeError);
}

/** A value as text, by its own conversion. */
export function convertToString(value: unknown): string {
  return String(value);
}

/** @throws NodeError where a value is no text */
export function checkString(value: unknown, name: string): asserts value is string {
  if (typeof value !== 'string') throw invalidArgType(name, 'of type string', value);
}

/** @throws NodeError where a value is no function */
export function checkFunction(value: unknown, name: string): asserts value is (...args: unknown[]) => unknown {
  if (typeof value !== 'function') throw invalidArgType(name, 'of type function', value);
}

/** @throws NodeError where a value is no object */
export function checkObject(value: unknown, name: string): asserts value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidArgType(name, 'of type object', value);
}

/** @throws NodeError where a value is no whole number from `least` to `most` */
export function checkInteger(
  value: unknown,
  name: string,
  least: number = Number.MIN_SAFE_INTEGER,
  most: number = Number.MAX_SAFE_INTEGER,
): asserts value is number {
  if (typeof value !== 'number') throw invalidArgType(name, 'of type number', value);
  if (!Number.isInteger(value)) throw outOfRange(name, 'an integer', value);
  if (value < least || value > most) throw outOfRange(name, `>= ${least} && <= ${most}`, value);
}

function named(name: string): string {
  if (name.endsWith(' argument')) return name;
  return `"${name}" ${name.includes('.') ? 'property' : 'argument'}`;
}

/** How Node describes a value that it did not expect. */
export function describeReceived(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (typeof value === 'function') return value.name === '' ? 'function ' : `function ${value.name}`;
  if (typeof value === 'object') {
    const { name } = (value.constructor as { name?: unknown } | undefined) ?? {};
    return typeof name === 'string' && name !== '' ? `an instance of ${name}` : '[Object: null prototype] {}';
  }
  const text = literal(value);
  return `type ${typeof value} (${text.length > 28 ? `${text.slice(0, 25)}...` : text})`;
}

function literal(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  return typeof value === 'bigint' ? `${value}n` : String(value);
}

/** A number as text. The digits of long whole numbers are grouped. */
function shownNumber(value: unknown): string {
  const text = literal(value);
  const isLong =
    (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) > 2 ** 32) || typeof value === 'bigint';
  return isLong ? text.replace(/(?<=\d)(?=(\d{3})+n?$)/g, '_') : text;
}
