import { sideBySide } from '../check/project.ts';
import type { FileOutcome, RunOptions, TimedFile } from './outcome.ts';
import { nodeOptions, sharesProcess } from './suites.ts';
import { TestProcess } from './test-process.ts';

/**
 * Runs test files as plain programs and yields their results in order. Kills what a file leaves running. Files can
 * share a process, so that common modules load once. A file that fails is the last one in its process.
 */
export async function* runPlain(files: readonly TimedFile[], options: RunOptions): AsyncGenerator<FileOutcome> {
  const running = new Set<TestProcess>();
  /** Idle processes by their Node options. */
  const idle = new Map<string, TestProcess[]>();
  const interrupted = () => {
    for (const process of running) process.kill();
    process.exit(130);
  };
  const start = (nodeOptions: readonly string[]) => {
    const process = new TestProcess(nodeOptions, options);
    running.add(process);
    return process;
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  yield* sideBySide(files, options.filesAtOnce, async (timed) => {
    const isLast = !sharesProcess(timed.file);
    const given = nodeOptions(timed.file);
    const kind = given.join(' ');
    const process = (isLast ? undefined : idle.get(kind)?.pop()) ?? start(given);
    const outcome = await process.run(timed, { isLast });
    if (!isLast && outcome.failures.length === 0) {
      idle.set(kind, [...(idle.get(kind) ?? []), process]);
      return outcome;
    }
    process.kill();
    running.delete(process);
    return outcome;
  });
  await Promise.all([...idle.values()].flat().map((process) => process.end()));
  process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
}
