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
