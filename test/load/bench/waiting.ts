/** Measures the cost of waiting calls: many calls of one plugin wait at once and are answered together. */
import { startService } from '../../support/service.ts';
import { WAITING_PLUGIN, WaitingCalls, waitingEntry } from '../../support/waiting-calls.ts';
import { createWorkspace } from '../../support/workspace.ts';
import { memoryBelow } from './process-figures.ts';

export interface WaitingFigures {
  calls: number;
  /** From the first request until all calls run. */
  enteredSeconds: number;
  /** From setting the word until the last answer. Each call looks for the word every five seconds. */
  answeredSeconds: number;
  /** Memory that one waiting call adds to the processes below the service, in MiB. */
  mibPerCall: number;
}

const PATIENCE_MS = 120_000;
const PROCESS_MB = 4096;

/** Makes that many calls wait at once. @throws unless each call is answered with its own result */
export async function benchWaiting(calls: number): Promise<WaitingFigures> {
  const workspace = await createWorkspace({
    pluginFiles: { 'waiting.ts': WAITING_PLUGIN },
    plugins: [waitingEntry(calls, PROCESS_MB)],
    env: { RATE_LIMIT_REQUESTS_PER_SECOND: '1000000', RATE_LIMIT_BURST_SIZE: '1000000' },
  });
  const service = await startService(workspace.env);
  await service.call('waiting', {});
  const emptyMib = await memoryBelow(service.pid);
  const began = performance.now();
  const waiting = new WaitingCalls(service, calls);
  try {
    await waiting.allRun(PATIENCE_MS);
    const entered = performance.now();
    const answers = await waiting.answers();
    const answered = performance.now();
    const wrong = answers.filter((answer, index) => answer !== index).length;
    if (wrong > 0) throw new Error(`${wrong} of ${calls} calls got another answer than their own`);
    return {
      calls,
      enteredSeconds: (entered - began) / 1000,
      answeredSeconds: (answered - entered) / 1000,
      // The isolates of a burst are kept for a while, so they are still part of this memory.
      mibPerCall: ((await memoryBelow(service.pid)) - emptyMib) / calls,
    };
  } finally {
    await waiting.close();
    await service.stop();
    await workspace.remove();
  }
}
