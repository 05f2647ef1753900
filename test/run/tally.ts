import { Parser, type Result } from 'tap-parser';

/** One failure: its place, and tap's details. */
export interface Failure {
  /** The file, the names of the enclosing tests, and the assertion's text. */
  readonly path: readonly string[];
  readonly details: Readonly<Record<string, unknown>>;
}

/** The result of a TAP stream. Only assertions count, not the tests around them. */
export interface Tally {
  readonly passed: number;
  readonly failures: readonly Failure[];
  /** The test files in the stream, as the runner names them. */
  readonly files: readonly string[];
  /** Output that is not TAP: prints of the tests, and the coverage table. */
  readonly extra: string;
}

interface Counts {
  points: number;
  failed: number;
}

/** Reads a TAP stream. Crashes, skipped tests and tests without assertions are failures too. */
export class TapReader {
  readonly #parser = new Parser();
  readonly #path: readonly string[];
  readonly #failures: Failure[] = [];
  readonly #files: string[] = [];
  #passed = 0;
  #extra = '';

  /** Reads the results of the given file. Without a file, reads a runner's output with one test per file. */
  constructor(file?: string) {
    this.#path = file === undefined ? [] : [file];
    this.#watch(this.#parser, this.#path);
    this.#parser.on('extra', (text: string) => {
      this.#extra += text;
    });
    this.#parser.on('bailout', (reason: string) => this.#add(['bail out'], { message: reason }));
  }

  /** Takes the next piece of the stream. */
  write(text: string): void {
    this.#parser.write(text);
  }

  /** Ends the stream and returns its result. */
  end(): Tally {
    this.#parser.end();
    if (this.#parser.results?.ok === false && this.#failures.length === 0) {
      this.#add([...this.#path, 'the stream of results'], { message: tapErrors(this.#parser) || 'is broken' });
    }
    return { passed: this.#passed, failures: this.#failures, files: this.#files, extra: this.#extra };
  }

  #watch(parser: Parser, path: readonly string[]): Counts {
    const counts: Counts = { points: 0, failed: 0 };
    let open: { parser: Parser; counts: Counts } | undefined;
    parser.on('child', (child: Parser) => {
      open = { parser: child, counts: this.#watch(child, [...path, child.name]) };
    });
    parser.on('assert', (point: Result) => {
      const closed = open?.parser.name === point.name ? open : undefined;
      open = undefined;
      const before = this.#failures.length;
      if (path.length === 0) this.#files.push(point.name);
      if (closed === undefined) this.#takeAssertion(point, path);
      else this.#takeTest(point, path, closed);
      counts.points += 1;
      counts.failed += (closed?.counts.failed ?? 0) + this.#failures.length - before;
    });
    return counts;
  }

  #takeAssertion(point: Result, path: readonly string[]): void {
    const leftOut = reasonLeftOut(point);
    if (leftOut !== undefined) this.#add([...path, point.name], { message: leftOut });
    else if (point.ok) this.#passed += 1;
    else this.#add([...path, point.name], point.diag ?? {});
  }

  #takeTest(point: Result, path: readonly string[], test: { parser: Parser; counts: Counts }): void {
    const place = [...path, point.name];
    const leftOut = reasonLeftOut(point);
    if (leftOut !== undefined) this.#add(place, { message: leftOut });
    else if (!point.ok && test.counts.failed === 0) {
      this.#add(place, { message: tapErrors(test.parser), ...point.diag });
    } else if (test.counts.points === 0) this.#add(place, { message: 'asserts nothing' });
  }

  #add(path: readonly string[], details: Record<string, unknown>): void {
    this.#failures.push({ path, details });
  }
}

/** The reason why a test was skipped or left as todo. Both are failures. */
function reasonLeftOut({ skip, todo }: Result): string | undefined {
  if (skip !== false && skip !== undefined) return `skipped${skip === true ? '' : `: ${skip}`}`;
  if (todo !== false && todo !== undefined) return `left to do${todo === true ? '' : `: ${todo}`}`;
  return undefined;
}

function tapErrors(parser: Parser): string {
  return (parser.results?.failures ?? [])
    .map((failure) => failure.tapError)
    .filter((text) => typeof text === 'string')
    .join('; ');
}
