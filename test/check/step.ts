/** What a step found: how much it looked at, and what is wrong. */
export interface StepResult {
  readonly looked: string;
  readonly failures: readonly string[];
}

/** One checker of the repository; it must look at something, so a checker that finds nothing to check fails. */
export interface Step {
  readonly name: string;
  run(root: string): Promise<StepResult>;
}

/** Compares what a tool says it read with the files that it should have read. */
export function judgeReading(tool: string, read: Iterable<string>, expected: readonly string[]): StepResult {
  const known = new Set(read);
  const missed = expected.filter((path) => !known.has(path));
  const failures: string[] = [];
  if (missed.length > 0) failures.push(`${tool} never read:\n${missed.join('\n')}`);
  if (expected.length === 0) failures.push(`There is no file for ${tool} to read.`);
  return { looked: `${expected.length - missed.length} files`, failures };
}
