/** One thing that is wrong with the configuration: where it is, what it is, and what to do about it. */
export interface Problem {
  /** The file as the operator knows it, or `environment`. */
  file: string;
  /** Where in the file: `relayers[0].network`, the name of a variable, or empty for the whole file. */
  path: string;
  message: string;
  /** What to do; absent where the message says it. */
  advice?: string;
}

/** The configuration cannot be used; names everything that is wrong with it, so that one round of editing suffices. */
export class ConfigurationError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
    super([`The configuration has ${count}:`, ...problems.map((problem) => `  - ${textOf(problem)}`)].join('\n'));
    this.name = 'ConfigurationError';
    this.problems = problems;
  }
}

/** A problem or warning in one line. */
export function textOf({ file, path, message, advice }: Problem): string {
  const place = path === '' ? file : `${file}: ${path}`;
  return advice === undefined ? `${place}: ${message}` : `${place}: ${message}. ${advice}`;
}

/** Gathers what is found, so that nothing stops at the first fault. */
export class Findings {
  readonly problems: Problem[] = [];
  readonly warnings: Problem[] = [];

  problem(file: string, path: string, message: string, advice?: string): void {
    this.problems.push({ file, path, message, ...(advice === undefined ? {} : { advice }) });
  }

  warn(file: string, path: string, message: string, advice?: string): void {
    this.warnings.push({ file, path, message, ...(advice === undefined ? {} : { advice }) });
  }

  /** @throws ConfigurationError when there is any problem */
  settle(): void {
    if (this.problems.length > 0) throw new ConfigurationError(this.problems);
  }
}
