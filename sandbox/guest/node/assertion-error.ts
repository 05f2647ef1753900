/** The data of an {@link AssertionError}. */
interface Assertion {
  message?: string | undefined;
  actual?: unknown;
  expected?: unknown;
  operator?: string;
  generatedMessage?: boolean;
  stackStartFn?: ((...args: never[]) => unknown) | undefined;
}

/** Values with more lines are not compared line by line. */
const MAX_LINES = 200;

/** Most characters of two values together that are shown on one line. */
const SHORT = 12;

const WORDS: Readonly<Record<string, string>> = {
  deepStrictEqual: 'Expected values to be strictly deep-equal:',
  partialDeepStrictEqual: 'Expected values to be partially and strictly deep-equal:',
  strictEqual: 'Expected values to be strictly equal:',
  strictEqualObject: 'Expected "actual" to be reference-equal to "expected":',
  deepEqual: 'Expected values to be loosely deep-equal:',
  notDeepStrictEqual: 'Expected "actual" not to be strictly deep-equal to:',
  notStrictEqual: 'Expected "actual" to be strictly unequal to:',
  notStrictEqualObject: 'Expected "actual" not to be reference-equal to "expected":',
  notDeepEqual: 'Expected "actual" not to be loosely deep-equal to:',
};

/** Shows a value as an assertion does. */
export type Show = (value: unknown) => string;

/** The text of an assertion that two values are alike: their difference. */
export function comparisonText(operator: string, actual: unknown, expected: unknown, show: Show): string {
  const areObjects = [actual, expected].every(
    (value) => (typeof value === 'object' && value !== null) || typeof value === 'function',
  );
  const [a, b] = [show(actual), show(expected)];
  if (a === b && operator === 'strictEqual' && areObjects) {
    return `Values have same structure but are not reference-equal:\n\n${a}\n`;
  }
  const head = operator === 'strictEqual' && areObjects ? WORDS['strictEqualObject'] : WORDS[operator];
  const isShort = !a.includes('\n') && !b.includes('\n') && a.length + b.length <= SHORT;
  const isPlain = [actual, expected].every((value) => typeof value !== 'object' || value === null);
  if (isShort && isPlain && a !== b) return `${head}\n\n${a} !== ${b}\n`;
  return `${head}\n+ actual - expected\n\n${difference(a.split('\n'), b.split('\n')).join('\n')}\n`;
}

/** The text of an assertion that two values differ: the value of both. */
export function samenessText(operator: string, actual: unknown, show: Show): string {
  const isObject = (typeof actual === 'object' && actual !== null) || typeof actual === 'function';
  const head = operator === 'notStrictEqual' && isObject ? WORDS['notStrictEqualObject'] : WORDS[operator];
  const text = show(actual);
  return text.includes('\n') || isObject || text.length > 5 ? `${head}\n\n${text}\n` : `${head} ${text}`;
}

/** The lines of both values, joined by their longest common part. Lines that only one value has are marked. */
function difference(a: readonly string[], b: readonly string[]): string[] {
  if (a.length > MAX_LINES || b.length > MAX_LINES)
    return [...a.map((line) => `+ ${line}`), ...b.map((line) => `- ${line}`)];
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  const at = (row: number, column: number) => common[row]?.[column] ?? 0;
  for (let row = a.length - 1; row >= 0; row--) {
    for (let column = b.length - 1; column >= 0; column--) {
      const line = common[row] as Uint16Array;
      line[column] = same(a[row], b[column])
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const lines: string[] = [];
  for (let row = 0, column = 0; row < a.length || column < b.length; ) {
    if (row < a.length && column < b.length && same(a[row], b[column])) {
      lines.push(`  ${a[row++]}`);
      column++;
    } else if (row < a.length && (column === b.length || at(row + 1, column) >= at(row, column + 1)))
      lines.push(`+ ${a[row++]}`);
    else lines.push(`- ${b[column++]}`);
  }
  return lines;
}

/** Compares two lines without the comma at the end, which only says that another line follows. */
function same(a: string | undefined, b: string | undefined): boolean {
  return a?.replace(/,$/, '') === b?.replace(/,$/, '');
}

/** The error of an assertion that does not hold. */
export class AssertionError extends Error {
  readonly code = 'ERR_ASSERTION';
  readonly generatedMessage: boolean;
  readonly actual: unknown;
  readonly expected: unknown;
  readonly operator: string | undefined;

  constructor(options: Assertion) {
    const { message, actual, expected, operator, generatedMessage = message === undefined, stackStartFn } = options;
    super(message ?? `${String(actual)} ${operator ?? ''} ${String(expected)}`);
    Object.defineProperty(this, 'name', { value: 'AssertionError', writable: true, configurable: true });
    this.generatedMessage = generatedMessage;
    this.actual = actual;
    this.expected = expected;
    this.operator = operator;
    Error.captureStackTrace(this, stackStartFn);
  }

  override toString(): string {
    return `${this.name} [${this.code}]: ${this.message}`;
  }
}

/** Shows a value as text. */
export type Inspect = (value: unknown, options?: object) => string;

export type AnyFunction = (...args: never[]) => unknown;

export type AssertionMessage = string | Error | ((...args: unknown[]) => string) | undefined;

interface Failure {
  operator: string;
  actual: unknown;
  expected: unknown;
  message: AssertionMessage;
  /** The message if the caller gives none. */
  generated: string;
  /** The function at which the stack begins. */
  from: AnyFunction;
}

/** Throws the error of an assertion that does not hold. */
export function throwAssertionError({ operator, actual, expected, message, generated, from }: Failure): never {
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
