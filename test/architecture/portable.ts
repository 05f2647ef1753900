import type { Rule } from './rule.ts';

// The paths are put together here, so that this file does not break its own rule.
const MACHINE_PATHS = [['', 'work', ''].join('/'), ['', 'tmp', 'bash_jobs'].join('/'), ['', 'home', ''].join('/')];

/** Finds paths of the machine on which the code was written. The repository must run wherever it is cloned. */
export const noMachinePaths: Rule = (files) =>
  files.flatMap(({ path, text }) =>
    MACHINE_PATHS.filter((folder) => text.includes(folder)).map((folder) => `${path} names ${folder}.`),
  );
