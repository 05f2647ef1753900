/** A file of the repository: its path from the root, with forward slashes, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** A rule over all files. Returns one sentence for each violation. */
export type Rule = (files: readonly SourceFile[]) => string[];
