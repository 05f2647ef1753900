import { isMainThread, MessageChannel, parentPort, threadId, workerData } from 'node:worker_threads';
import {
  type DriverData,
  type DriverHello,
  type FromDriverMessage,
  type FromDriverMessages,
  PROTOCOL_VERSION,
  type ToDriverMessages,
} from '../protocol.ts';
import { probeLauncher } from './confinement.ts';
import { launch } from './launch.ts';
import { serviceNice } from './niceness.ts';
import { ChildProcesses } from './processes.ts';

if (isMainThread || parentPort === null) throw new Error('driver.ts is the entry of a worker thread');
const data = workerData as DriverData;
if (data.protocol !== PROTOCOL_VERSION) {
  throw new Error(`the host speaks protocol ${data.protocol}, this thread ${PROTOCOL_VERSION}`);
}

const { port1: mine, port2: port } = new MessageChannel();
let outbox: FromDriverMessage[] = [];

/** Collects the messages of one turn of the loop and posts them together. */
function post(message: FromDriverMessage): void {
  if (outbox.push(message) === 1) setImmediate(flush);
}

function flush(): void {
  const messages: FromDriverMessages = outbox;
  outbox = [];
  mine.postMessage(messages);
}

const launcher = await probeLauncher(process.platform, data.addon);
const service = serviceNice();
const processes = new ChildProcesses({
  launcher,
  service,
  door: data.door,
  start: (channel, journalFd) => launch(launcher, data.program, { channel, journalFd }),
  post,
});
mine.on('message', (messages: ToDriverMessages) => {
  for (const message of messages) processes.receive(message);
});
process.on('exit', () => processes.close());
const { confinement } = launcher;
const hello: DriverHello = { thread: threadId, port, confinement, comesBack: service.comesBack };
parentPort.postMessage(hello, [port]);

/** Piscina requires a task function. It does nothing: a piscina message for each call would cost more than the call. */
export function task(): void {}
