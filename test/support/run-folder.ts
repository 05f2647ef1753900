import { tmpdir } from 'node:os';

/** The variable in which the runner says where its folder is. */
const VARIABLE = 'ISOLAYER_TEST_FOLDER';

/** The folder that a test run makes for data shared by its test files. Absent if a test file is started by itself. */
export function sharedFolder(): string | undefined {
  return process.env[VARIABLE];
}

/** The folder for databases and workspaces. It is in memory if the run found enough room. */
export function quickFolder(): string {
  return sharedFolder() ?? tmpdir();
}

/**
 * Options for processes that run only briefly. They turn off the optimizing compiler of WebAssembly, which takes longer
 * than its code saves: a fifteenth of the time of all tests. Young objects get the room that `npm start` gives them,
 * which saves another. Compiled code is kept apart by the first option, so all processes of a run have the same.
 */
export const SHORT_LIVED: readonly string[] = [
  '--liftoff-only',
  '--min-semi-space-size=16',
  '--max-semi-space-size=16',
];

/**
 * Options that make a process under test start sooner. Not for benches and soaks, which start services as `npm start`
 * does.
 */
export function quickStart(): readonly string[] {
  return sharedFolder() === undefined ? [] : SHORT_LIVED;
}
