import type { Rule } from './rule.ts';

// Written in parts, so that this file does not offend against itself.
const MACHINE_PATHS = [['', 'work', ''].join('/'), ['', 'tmp', 'bash_jobs'].join('/'), ['', 'home', ''].join('/')];

/** The repository runs wherever it is cloned, so no file names a folder of the machine it was written on. */
export const noMachinePaths: Rule = (files) =>
  files.flatMap(({ path, text }) =>
    MACHINE_PATHS.filter((folder) => text.includes(folder)).map((folder) => `${path} names ${folder}.`),
  );
