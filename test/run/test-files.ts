/**
 * Runs test files one after the other, each as `node <file>` would. A file is over when nothing keeps the process
 * alive. Descriptor 3 gives a line per file: its time limit in seconds, and its path. After each file, the mark goes to
 * both outputs. On stdout the file's processor time and the built-ins that it changed follow.
 */
import { readSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import { BuiltIns } from './built-ins.ts';
import { spentByProcess } from './spent.ts';

const FILES = 3;
const LINE_BREAK = 10;

const [library = '', mark = ''] = process.argv.splice(2);
const libraryUrl = String(pathToFileURL(library));
const { Test: FileTest } = (await import(libraryUrl)) as {
  Test: new (options: { name: string; timeout: number }) => Test & { endAll(): void };
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

const builtIns = new BuiltIns();
let isOver: (() => boolean) | undefined;
let spent = 0;
process.on('beforeExit', () => {
  // Causes another `beforeExit`, even if only promises follow.
  const again = setImmediate(() => {});
  if (isOver !== undefined) {
    if (!isOver()) return;
    isOver = undefined;
    tellEnd();
    // The wait for the next file blocks the process, and would hold back output in a full pipe. So wait at the next
    // `beforeExit`, when all output is written.
    return;
  }
  const [seconds = '', file = ''] = readLine().split(' ');
  if (file === '') clearImmediate(again);
  else isOver = runFile(file, Number(seconds));
});

function tellEnd(): void {
  const now = spentByProcess();
  const figures = { spent: now === undefined ? undefined : now - spent, changed: builtIns.changed() };
  process.stdout.write(`\n${mark} ${JSON.stringify(figures)}\n`);
  process.stderr.write(`\n${mark}\n`);
  spent = now ?? 0;
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
 * @returns a function that ends the file's test and returns whether it has ended. Call it when nothing keeps the
 * process alive: tests that still wait then never end by themselves.
 */
function runFile(file: string, seconds: number): () => boolean {
  files += 1;
  const path = resolve(file);
  // The file sees itself as the main program.
  process.argv[1] = path;
  // Leftovers of an earlier file can also keep the process alive. Print this before the test times out, because the
  // process may be killed right after that.
  const keeping = () => `kept alive by: ${process.getActiveResourcesInfo().join(', ')}\n`;
  const late = setTimeout(() => process.stderr.write(keeping()), seconds * 1000).unref();
  const test = new FileTest({ name: file, timeout: seconds * 1000 });
  (globalThis as Record<symbol, unknown>)[Symbol.for(OWN_TEST)] = test;
  test.pipe(process.stdout);
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
    if (!test.results) return false;
    // Otherwise the timeout would run on, and expire during another file.
    test.setTimeout(0);
    clearTimeout(late);
    return true;
  };
}
