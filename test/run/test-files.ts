/**
 * Runs test files one after the other, each as `node <file>` would: a file is over when nothing keeps the process alive.
 * Descriptor 3 gives a line per file: its time limit in seconds, and its path. Descriptor 4 takes lines of JSON: each
 * failure at once, because the process may be killed right after it, and the end of each file.
 */
import { readFileSync, readSync, writeSync } from 'node:fs';
import { flushCompileCache, registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import type { Parser } from 'tap-parser';

const FILES = 3;
const RESULTS = 4;
const LINE_BREAK = 10;

/** A failed assertion, or a test that was left out or never ended. */
export interface Failure {
  /** The names of the tests around it, and its own. */
  readonly path: readonly string[];
  readonly details: Readonly<Record<string, unknown>>;
}

export interface FileEnd {
  /** Assertions that held. */
  readonly passed: number;
  /** Seconds of processor time. */
  readonly spent: number;
}

const [library = ''] = process.argv.splice(2);
const libraryUrl = String(pathToFileURL(library));
const { Test: FileTest } = (await import(libraryUrl)) as {
  Test: new (options: { name: string; timeout: number }) => Test & { endAll(): void; parser: Parser };
};

/** The symbol of the file's test object. `import t from 'tap'` gives this object to the file. */
const OWN_TEST = 'isolayer.test.own';
let files = 0;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'tap' ? { url: `${libraryUrl}?file=${files}`, shortCircuit: true } : next(specifier, context),
  load: (url, context, next) =>
    url.startsWith(`${libraryUrl}?file=`)
      ? { format: 'module', source: `export default globalThis[Symbol.for('${OWN_TEST}')];`, shortCircuit: true }
      : next(url, context),
});

let endFile: ReturnType<typeof runFile> | undefined;
let spent = 0;
process.on('beforeExit', () => {
  // Causes another `beforeExit`, even if only promises follow.
  const again = setImmediate(() => {});
  if (endFile === undefined) {
    const [seconds = '', file = ''] = readLine().split(' ');
    if (file === '') clearImmediate(again);
    else endFile = runFile(file, Number(seconds));
    return;
  }
  const passed = endFile();
  if (passed === undefined) return;
  // For processes that start before this one ends.
  flushCompileCache();
  const now = spentByProcess();
  tell({ passed, spent: now - spent });
  spent = now;
  // The wait for the next file blocks the process. All output has to be written before, so wait at the next time.
  endFile = undefined;
});

function tell(line: Failure | FileEnd): void {
  writeSync(RESULTS, `${JSON.stringify(line)}\n`);
}

/** Reads synchronously. An open handle would keep the process alive. */
function readLine(): string {
  const byte = Buffer.alloc(1);
  let line = '';
  while (readSync(FILES, byte) === 1 && byte[0] !== LINE_BREAK) line += byte.toString('latin1');
  return line;
}

/**
 * Starts a file.
 * @returns a function that ends the file's test and returns how many assertions held. Call it when nothing keeps the process alive:
 * tests that still wait then never end by themselves.
 */
function runFile(file: string, seconds: number): () => number | undefined {
  files += 1;
  const path = resolve(file);
  // The file sees itself as the main program.
  process.argv[1] = path;
  const keeping = () => `kept alive by: ${process.getActiveResourcesInfo().join(', ')}\n`;
  const late = setTimeout(() => process.stderr.write(keeping()), seconds * 1000).unref();
  const test = new FileTest({ name: file, timeout: seconds * 1000 });
  (globalThis as Record<symbol, unknown>)[Symbol.for(OWN_TEST)] = test;
  const tally = new Tally(test.parser);
  test.resume();
  test.runMain(() => {});
  // Teardowns of the file run after its last test.
  let isLoaded = false;
  const { teardown } = test;
  test.teardown = (...handlers) => {
    test.on('idle', () => setImmediate(() => isLoaded && test.idle && !test.ended && test.end()));
    test.teardown = teardown;
    return test.teardown(...handlers);
  };
  test.hook.runInAsyncScope(() => {
    import(String(pathToFileURL(path))).then(
      () => {
        isLoaded = true;
        test.emit('idle');
      },
      (error: unknown) => test.threw(error),
    );
  });
  const endings = [() => test.ended || test.end(), () => test.endAll()];
  return () => {
    if (!test.results) endings.shift()?.();
    if (!test.results) return undefined;
    // Otherwise the timeout would run on, and expire during another file.
    test.setTimeout(0);
    clearTimeout(late);
    return tally.end();
  };
}

/**
 * Tells the failures, and counts the assertions that hold, however deep they stand. A test that was skipped, left to do
 * or asserts nothing has failed.
 */
class Tally {
  readonly #parser: Parser;
  #passed = 0;
  #failed = 0;

  constructor(parser: Parser) {
    this.#parser = parser;
    this.#watch(parser, []);
  }

  end(): number {
    // What concerns the stream as a whole, such as a wrong number of assertions.
    const errors = this.#failed > 0 ? [] : (this.#parser.results?.failures ?? []);
    for (const { tapError } of errors) this.#fail([], { message: tapError });
    if (this.#passed === 0 && this.#failed === 0) this.#fail([], { message: 'asserts nothing' });
    return this.#passed;
  }

  #watch(parser: Parser, path: readonly string[]): void {
    let test: { name: string; points: number; failedBefore: number } | undefined;
    parser.on('child', (child: Parser) => {
      const own = { name: child.name, points: 0, failedBefore: this.#failed };
      test = own;
      child.on('assert', () => {
        own.points += 1;
      });
      this.#watch(child, [...path, child.name]);
    });
    parser.on('assert', ({ ok, name, skip, todo, diag, tapError }) => {
      const closed = test?.name === name ? test : undefined;
      test = undefined;
      const place = [...path, name];
      const leftOut = skip || todo;
      if (leftOut) this.#fail(place, { message: `left out: ${leftOut}` });
      else if (closed?.points === 0) this.#fail(place, { message: 'asserts nothing', ...diag });
      else if (!ok && this.#failed === (closed?.failedBefore ?? this.#failed)) {
        this.#fail(place, diag ?? { message: tapError });
      } else if (ok && closed === undefined) this.#passed += 1;
    });
  }

  #fail(path: readonly string[], details: Failure['details']): void {
    this.#failed += 1;
    tell({ path, details });
  }
}

/** Seconds of processor time of this process and of ended children, in so far as the system tells them. */
function spentByProcess(): number {
  try {
    // Format: pid (name) state … Fields 14 to 17 are user and system time, of the process and of its children.
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const figures = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return figures.slice(11, 15).reduce((sum, hundredths) => sum + Number(hundredths) / 100, 0);
  } catch {
    return process.uptime();
  }
}
