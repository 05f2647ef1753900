/** A fault of the configuration: its place, its description, and how to fix it. */
export interface ConfigurationProblem {
  /** The file's name in messages, or `environment`. */
  file: string;
  /** The place in the file: `relayers[0].network`, the name of a variable, or empty for the whole file. */
  path: string;
  message: string;
  /** How to fix it; absent where the message says it. */
  advice?: string;
}

/** The configuration cannot be used. The error lists every problem, so that one round of editing is enough. */
export class ConfigurationError extends Error {
  readonly problems: readonly ConfigurationProblem[];

  constructor(problems: readonly ConfigurationProblem[]) {
    const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
    super([`The configuration has ${count}:`, ...problems.map((problem) => `  - ${problemText(problem)}`)].join('\n'));
    this.name = 'ConfigurationError';
    this.problems = problems;
  }
}

/** A problem or warning in one line. */
export function problemText({ file, path, message, advice }: ConfigurationProblem): string {
  const place = path === '' ? file : `${file}: ${path}`;
  return advice === undefined ? `${place}: ${message}` : `${place}: ${message}. ${advice}`;
}

/** Collects problems and warnings, so that checking does not stop at the first problem. */
export class ConfigurationFindings {
  readonly problems: ConfigurationProblem[] = [];
  readonly warnings: ConfigurationProblem[] = [];

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
