import { Parser, type Result } from 'tap-parser';

/** One thing that went wrong: where, and what tap knows about it. */
export interface Failure {
  /** The file, the tests around it, and the assertion's own text. */
  readonly path: readonly string[];
  readonly details: Readonly<Record<string, unknown>>;
}

/** What a stream of TAP amounts to. An assertion counts once, where it stands; the tests around it do not count. */
export interface Tally {
  readonly passed: number;
  readonly failures: readonly Failure[];
  /** The test files that reported, as the runner names them. */
  readonly files: readonly string[];
  /** What is not TAP: output of the tests, the coverage table. */
  readonly extra: string;
}

interface Counts {
  points: number;
  failed: number;
}

/** Reads TAP until its end. More is wrong than failed assertions: a crash, a test that asserts nothing or is left out. */
export class TapReader {
  readonly #parser = new Parser();
  readonly #path: readonly string[];
  readonly #failures: Failure[] = [];
  readonly #files: string[] = [];
  #passed = 0;
  #extra = '';

  /** Reads the results of one file, or, without its name, those of a runner with one test per file. */
  constructor(file?: string) {
    this.#path = file === undefined ? [] : [file];
    this.#watch(this.#parser, this.#path);
    this.#parser.on('extra', (text: string) => {
      this.#extra += text;
    });
    this.#parser.on('bailout', (reason: string) => this.#add(['bail out'], { message: reason }));
  }

  /** Takes the next piece of TAP. */
  write(text: string): void {
    this.#parser.write(text);
  }

  /** Ends the stream and says what it amounted to. */
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

/** Everything runs: what is skipped or left to do is a failure here, with its reason. */
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
