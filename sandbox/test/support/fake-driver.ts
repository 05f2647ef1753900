/**
 * A driver thread without children. It speaks the host's protocol, and answers each call with the call's own context. A
 * call's `params` decide what else happens, see {@link run}.
 */
import { MessageChannel, parentPort, threadId } from 'node:worker_threads';
import type { CallReport, CallTask, Confinement } from '../../contract.ts';
import type { FromDriverMessages, ToDriverMessages } from '../../protocol.ts';

const CONFINEMENT: Confinement = {
  permission: true,
  pdeathsig: false,
  no_new_privs: true,
  namespaces: false,
  files_hidden: false,
  syscalls_filtered: false,
  core_dumps_off: true,
  few_files: true,
  oom_first: true,
  missing: { pdeathsig: 'not tried', namespaces: 'not tried' },
};
const { port1: mine, port2: port } = new MessageChannel();
const replies = new Map<number, (text: string) => void>();
const say = (...messages: FromDriverMessages) => mine.postMessage(messages);

mine.on('message', (messages: ToDriverMessages) => {
  for (const message of messages) receive(message);
});

function receive(message: ToDriverMessages[number]): void {
  const { child } = message;
  if (message.type === 'open') {
    say({ type: 'spawned', child, pids: [], confinement: CONFINEMENT });
    say({ type: 'ready', child });
  } else if (message.type === 'load') {
    const { version } = message.version;
    say({ type: 'loaded', child, message: { version, isolate_bytes: 1000, failure: null } });
  } else if (message.type === 'close') {
    say({ type: 'closed', child, cause: 'closed', detail: message.reason, culprit: 0, stderr: '' });
  } else if (message.type === 'reply') replies.get(message.call)?.(JSON.stringify(message.message.reply));
  else if (message.type === 'run') {
    void run(message).then((report) => say({ type: 'report', call: message.call, report }));
  }
}
parentPort?.postMessage({ thread: threadId, port }, [port]);

/** `ask` makes a capability call and returns the reply, `kill` loses the child, `exit` ends the thread. */
async function run({ child, call, context }: CallTask): Promise<CallReport> {
  const { params } = JSON.parse(context) as { params: { ask?: string; kill?: boolean; exit?: boolean } };
  if (params.exit === true) process.exit(1);
  const usage = { cpu_ms: 0, calls: 0, heap_bytes: 0, bytes_in: 0, bytes_out: 0 };
  if (params.kill === true) {
    say({ type: 'dying', child, cause: 'died', detail: 'asked to', culprit: call });
    say({ type: 'closed', child, cause: 'died', detail: 'asked to', culprit: call, stderr: 'last words' });
    const outcome = { kind: 'ended', code: 'SANDBOX_LOST', message: 'lost' } as const;
    return { outcome, logs: [], dropped_logs: 0, usage, lost: false };
  }
  const json = params.ask === undefined ? context : await ask(child, call, params.ask);
  return { outcome: { kind: 'returned', json }, logs: [], dropped_logs: 0, usage, lost: false };
}

function ask(child: number, call: number, method: string): Promise<string> {
  say({ type: 'request', child, call, message: { id: 1, method, params: { relayerId: 'known' } } });
  return new Promise((resolve) => replies.set(call, resolve));
}

/** Piscina's task. */
export function task(): void {}
