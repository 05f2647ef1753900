/** Runs a test file as `node <file>` would, with the test library from the one file that the run has made of it. */
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [library = '', file = ''] = process.argv.slice(2);
const url = String(pathToFileURL(library));
registerHooks({
  resolve: (specifier, context, next) => (specifier === 'tap' ? { url, shortCircuit: true } : next(specifier, context)),
});

// Who asks finds the test file as the program that was started.
process.argv.splice(1, 3, resolve(file));
await import(String(pathToFileURL(resolve(file))));
