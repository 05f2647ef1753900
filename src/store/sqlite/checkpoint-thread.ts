/** Entry of the thread that makes checkpoints. It runs one job at a time and sends one answer for each. */
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
