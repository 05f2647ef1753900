import { sideBySide } from './side-by-side.ts';
import type { Step, StepResult } from './step.ts';

/** Runs all steps to their end, two at a time, and prints each in its turn; true when none of them failed. */
export async function runSteps(steps: readonly Step[], root: string, print: (text: string) => void): Promise<boolean> {
  if (steps.length === 0) throw new Error('There is no step to run.');
  let failed = 0;
  for await (const { name, looked, failures, seconds } of sideBySide(steps, 2, (step) => runTimed(step, root))) {
    if (failures.length > 0) failed += 1;
    print(`${failures.length === 0 ? 'ok    ' : 'FAILED'} ${name} (${looked}, ${seconds.toFixed(1)} s)`);
    for (const failure of failures) print(indent(failure));
  }
  print(failed === 0 ? `All ${steps.length} checks passed.` : `${failed} of ${steps.length} checks failed.`);
  return failed === 0;
}

/** A step that throws has failed; the others still run. */
async function runTimed(step: Step, root: string): Promise<StepResult & { name: string; seconds: number }> {
  const start = performance.now();
  const result = await step.run(root).catch((error: unknown) => ({
    looked: 'did not run',
    failures: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
  }));
  return { ...result, name: step.name, seconds: (performance.now() - start) / 1000 };
}

function indent(text: string): string {
  return text.trim().replaceAll(/^/gm, '    ');
}
