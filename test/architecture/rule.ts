/** A file of the repository as the rules see it: its path from the root, with forward slashes, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** A rule of the house over all files at once; it answers with one sentence per offence. */
export type Rule = (files: readonly SourceFile[]) => string[];

/** Whether a file is shipped or shown: everything but the tests. */
export function isOurCode(path: string): boolean {
  return /^(src|sandbox|plugins|demo|bench|soak|gauntlet)\/.*\.ts$/.test(path);
}
