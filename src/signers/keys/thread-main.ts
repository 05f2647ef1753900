/** The entry of the thread that keeps the keys of the process and signs with them. */
import { parentPort } from 'node:worker_threads';
import { KeyTable } from './key-table.ts';
import type { KeyThreadRequest, KeyThreadResponse } from './key-thread.ts';

if (parentPort === null) throw new Error('thread-main.ts is the entry of a worker thread');

const port = parentPort;

const keys = new KeyTable();

const report = (response: KeyThreadResponse) => port.postMessage(response);

port.on('message', (order: KeyThreadRequest) => {
  switch (order.kind) {
    case 'open':
      void keys.open(order.key, order.material).then(report);
      break;
    case 'use':
      report({ kind: 'used', results: keys.use(order.uses) });
      break;
    case 'forget':
      keys.forget(order.key);
      break;
    case 'end':
      keys.forgetAll();
      port.close();
      break;
    default:
      order satisfies never;
  }
});
