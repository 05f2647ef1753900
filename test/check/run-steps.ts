import type { Step, StepResult } from './step.ts';

/** Runs all steps to their end, two at a time, and prints each in its turn; true when none of them failed. */
export async function runSteps(steps: readonly Step[], root: string, print: (text: string) => void): Promise<boolean> {
  if (steps.length === 0) throw new Error('There is no step to run.');
  const started = steps.map(() => Promise.withResolvers<Timed>());
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < steps.length; index = next++) {
      const step = steps[index];
      if (step !== undefined) started[index]?.resolve(await runTimed(step, root));
    }
  };
  const workers = [worker(), worker()];

  let failed = 0;
  for (const [index, step] of steps.entries()) {
    const { result, seconds } = (await started[index]?.promise) ?? missing(step);
    const passed = result.failures.length === 0;
    if (!passed) failed += 1;
    print(`${passed ? 'ok    ' : 'FAILED'} ${step.name} (${result.looked}, ${seconds.toFixed(1)} s)`);
    for (const failure of result.failures) print(indent(failure));
  }
  await Promise.all(workers);
  print(failed === 0 ? `All ${steps.length} checks passed.` : `${failed} of ${steps.length} checks failed.`);
  return failed === 0;
}

interface Timed {
  readonly result: StepResult;
  readonly seconds: number;
}

/** A step that throws has failed; the others still run. */
async function runTimed(step: Step, root: string): Promise<Timed> {
  const start = performance.now();
  const result = await step.run(root).catch((error: unknown) => ({
    looked: 'did not run',
    failures: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
  }));
  return { result, seconds: (performance.now() - start) / 1000 };
}

function missing(step: Step): never {
  throw new Error(`${step.name} was never started.`);
}

function indent(text: string): string {
  return text
    .trim()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
}
