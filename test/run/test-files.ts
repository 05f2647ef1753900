/**
 * Runs test files one after the other, each as `node <file>` would: a file is over when nothing keeps the process alive.
 * Descriptor 3 has a line for each: the seconds that it may take, and its path. At its end the mark goes to both outputs,
 * with the processor time that it took, and the built-ins that it changed for whoever comes next.
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

/** What `import t from 'tap'` gives a file: the test that everything in the file is part of. */
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
  // Brings another such moment, also where all that follows are promises.
  const again = setImmediate(() => {});
  if (isOver !== undefined) {
    if (!isOver()) return;
    isOver = undefined;
    tellEnd();
    // The wait for the next file blocks the process, and would keep back output that a full pipe has not taken yet. So
    // it begins at the next `beforeExit`, which comes when all output is written.
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

/** Waits without a handle of its own, which would keep the process alive. */
function readLine(): string {
  const byte = Buffer.alloc(1);
  let line = '';
  while (readSync(FILES, byte) === 1 && byte[0] !== LINE_BREAK) line += byte.toString('latin1');
  return line;
}

/** @returns whether it has ended, to be asked when nothing keeps the process alive: what waits then never ends by itself */
function runFile(file: string, seconds: number): () => boolean {
  files += 1;
  const path = resolve(file);
  // Who asks finds the test file as the program that was started.
  process.argv[1] = path;
  // Also what an earlier file left behind may keep it. Told before the test is out of time: it may be killed right then.
  const keeping = () => `kept alive by: ${process.getActiveResourcesInfo().join(', ')}\n`;
  const late = setTimeout(() => process.stderr.write(keeping()), seconds * 1000).unref();
  const test = new FileTest({ name: file, timeout: seconds * 1000 });
  (globalThis as Record<symbol, unknown>)[Symbol.for(OWN_TEST)] = test;
  test.pipe(process.stdout);
  test.runMain(() => {});
  // What a file opened for all of its tests is closed after the last of them.
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
    // Else its time would go on, and run out while another file runs.
    test.setTimeout(0);
    clearTimeout(late);
    return true;
  };
}
