import { isMainThread, MessageChannel, parentPort, threadId, workerData } from 'node:worker_threads';
import type { CallReport, CallTask } from '../contract.ts';
import {
  type DriverData,
  type FromDriverMessages,
  MESSAGES_AT_ONCE,
  PROTOCOL_VERSION,
  type ToDriverMessages,
} from '../protocol.ts';
import { callNotStartedReport } from './child-supervisor.ts';
import { Children } from './children.ts';
import { probeLauncher } from './confinement.ts';

/** What a driver thread posts to its parent once, as soon as it can work. */
export interface DriverHello {
  /** The thread's id, which is piscina's `worker.id`. */
  thread: number;
  /** Carries {@link ToDriverMessages} down and {@link FromDriverMessages} up. */
  port: MessagePort;
}

if (isMainThread || parentPort === null) throw new Error('driver.ts is the entry of a worker thread');
const data = workerData as DriverData;
if (data.protocol !== PROTOCOL_VERSION) {
  throw new Error(`the host speaks protocol ${data.protocol}, this thread ${PROTOCOL_VERSION}`);
}

const { port1: mine, port2: port } = new MessageChannel();
let outbox: FromDriverMessages[number][] = [];

/** Collects the messages of one turn of the loop and posts them together, see {@link MESSAGES_AT_ONCE}. */
function post(message: FromDriverMessages[number]): void {
  const waiting = outbox.push(message);
  if (waiting >= MESSAGES_AT_ONCE) flush();
  else if (waiting === 1) setImmediate(flush);
}

function flush(): void {
  if (outbox.length === 0) return;
  const messages: FromDriverMessages = outbox;
  outbox = [];
  mine.postMessage(messages);
}

const children = new Children(data, await probeLauncher(process.platform, data.addon), post);
mine.on('message', (messages: ToDriverMessages) => {
  for (const message of messages) {
    if (message.type === 'run') run(message);
    else children.receive(message);
  }
});
process.on('exit', () => children.close('the thread ended'));
const hello: DriverHello = { thread: threadId, port };
parentPort.postMessage(hello, [port]);

function run(task: CallTask): void {
  const answer = (report: CallReport) => post({ type: 'report', call: task.call, report });
  children.run(task).then(answer, () => answer(callNotStartedReport()));
}

/** Piscina requires a task function. It does nothing: a piscina message for each call would cost more than the call. */
export function task(): void {}
