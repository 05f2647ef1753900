import { isMainThread, MessageChannel, parentPort, threadId, workerData } from 'node:worker_threads';
import {
  type CallReport,
  type CallTask,
  type DriverData,
  type DriverMessage,
  type HostMessage,
  PROTOCOL_VERSION,
} from '../protocol.ts';
import { probeLauncher } from './launch.ts';
import { Slots } from './slots.ts';

/** What a driver thread posts to its parent once, when it can work: the port that carries everything but calls. */
export interface DriverHello {
  /** The thread's id, which is piscina's `worker.id`. */
  thread: number;
  /** Carries {@link HostMessage} down and {@link DriverMessage} up. */
  port: MessagePort;
}

if (isMainThread || parentPort === null) throw new Error('driver.ts is the entry of a worker thread');
const data = workerData as DriverData;
if (data.protocol !== PROTOCOL_VERSION) {
  throw new Error(`the host speaks protocol ${data.protocol}, this thread ${PROTOCOL_VERSION}`);
}

const { port1: mine, port2: port } = new MessageChannel();
const slots = new Slots(data, await probeLauncher(process.platform), (message: DriverMessage) => {
  mine.postMessage(message);
});
mine.on('message', (message: HostMessage) => slots.receive(message));
process.on('exit', () => slots.close('the thread ended'));
const hello: DriverHello = { thread: threadId, port };
parentPort.postMessage(hello, [port]);

/** The pool's task: runs one call; every end is a report. */
export function run(task: CallTask): Promise<CallReport> {
  return slots.run(task);
}
