import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The variable in which the runner says where its folder is. */
const VARIABLE = 'ISOLAYER_TEST_FOLDER';

/** The folder that a test run has made for what its files share; absent where a file is started by itself. */
export function sharedFolder(): string | undefined {
  return process.env[VARIABLE];
}

/** Where databases and workspaces are made: in memory where the run found room for them. */
export function quickFolder(): string {
  return sharedFolder() ?? tmpdir();
}

/**
 * What a process is given that lives shortly: the optimizing compiler of WebAssembly takes longer than what it compiles
 * is quicker by, which was a fifteenth of all that the tests took.
 */
export const SHORT_LIVED: readonly string[] = ['--liftoff-only'];

/** Options by which a process under test starts sooner. A bench or a soak gets its services as `npm start` makes them. */
export function quickStart(): readonly string[] {
  const packages = ['--import', String(pathToFileURL(join(import.meta.dirname, 'take-packages.ts')))];
  return sharedFolder() === undefined ? packages : [...packages, ...SHORT_LIVED];
}
