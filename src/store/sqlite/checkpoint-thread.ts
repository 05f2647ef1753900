/** The entry of the thread that makes checkpoints: one job at a time, each with one answer. */
import { parentPort, workerData } from 'node:worker_threads';
import {
  type CheckpointAnswer,
  Checkpointer,
  type CheckpointJob,
  type CheckpointOrder,
  checkpointFailure,
} from './checkpointer.ts';

if (parentPort === null) throw new Error('checkpoint-thread.ts is the entry of a worker thread');
const port = parentPort;
const checkpointer = new Checkpointer(workerData as string);

port.on('message', (order: CheckpointOrder) => {
  if (order === 'end') {
    checkpointer.close();
    port.close();
    return;
  }
  port.postMessage(answerTo(order));
});

function answerTo(job: CheckpointJob): CheckpointAnswer {
  try {
    return { pages: checkpointer.run(job) };
  } catch (cause) {
    return checkpointFailure(cause);
  }
}
