/**
 * Starts the bundle that `bin/bundle.ts` makes, with the functions that V8 compiled for an earlier start. Node's own
 * compile cache is made before any function runs, so it has none of those that V8 compiles at their first call.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { constants, Script } from 'node:vm';

const folder = join(import.meta.dirname, '..', 'dist');
const filename = join(folder, 'service.cjs');
const compiled = join(folder, 'service.compiled');

const script = new Script(
  `(function (module, require, __filename, __dirname) { ${readFileSync(filename, 'latin1')}\n})`,
  { filename, cachedData: keptOf(compiled), importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER },
);
script.runInThisContext()({ exports: {} }, createRequire(filename), filename, folder);

// Only the bundler asks for it. V8 refuses what was compiled by another version, for other code or with other options.
if (process.env.ISOLAYER_KEEP_COMPILED !== undefined) {
  process.on('exit', () => writeFileSync(compiled, script.createCachedData()));
}

function keptOf(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}
