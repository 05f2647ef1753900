/**
 * A driver thread without processes. It speaks the host's protocol, and is at the other end of each child's channel
 * itself: there it answers each call with the call's own context. A call's `params` decide what else happens, see
 * {@link FakeChild}.
 */
import { connect } from 'node:net';
import { MessageChannel, parentPort, threadId, workerData } from 'node:worker_threads';
import { type Confinement, FIXED_LIMITS } from '../../contract.ts';
import { encodeFrame, FrameDecoder } from '../../frames.ts';
import {
  DOWN,
  type DriverData,
  type DriverHello,
  type FromDriverMessages,
  KNOCK,
  PROTOCOL_VERSION,
  type ToDriverMessages,
  UP,
} from '../../protocol.ts';

const CONFINEMENT: Confinement = {
  permission: true,
  pdeathsig: false,
  no_new_privs: true,
  namespaces: false,
  files_hidden: false,
  syscalls_filtered: false,
  core_dumps_off: false,
  few_files: true,
  oom_first: true,
  missing: { pdeathsig: 'not tried', namespaces: 'not tried' },
};
const { door } = workerData as DriverData;
const { port1: mine, port2: port } = new MessageChannel();
const children = new Map<number, FakeChild>();
const say = (...messages: FromDriverMessages) => mine.postMessage(messages);

/** A child that is only a socket. `ask` makes a capability call and returns the reply, `kill` dies, `exit` ends the thread. */
class FakeChild {
  readonly #number: number;
  readonly #socket = connect({ path: door.path });
  readonly #replies = new Map<number, (text: string) => void>();

  constructor(number: number) {
    this.#number = number;
    const decoder = new FrameDecoder(
      () => FIXED_LIMITS.down_frame_bytes,
      (kind, call, text) => this.#receive(kind, call, text),
    );
    this.#socket.on('data', (chunk: Buffer) => decoder.push(chunk));
    this.#socket.write(encodeFrame(KNOCK, number, door.secret));
  }

  end(stderr: string): void {
    this.#socket.destroy();
    children.delete(this.#number);
    say({ type: 'gone', child: this.#number, code: 1, signal: null, stderr });
  }

  #send(kind: number, call: number, payload: unknown = ''): void {
    this.#socket.write(encodeFrame(kind, call, payload === '' ? '' : JSON.stringify(payload)));
  }

  #receive(kind: number, call: number, text: string): void {
    if (kind === DOWN.BOOT) this.#send(UP.READY, 0, { protocol: PROTOCOL_VERSION, node: 'fake' });
    if (kind === DOWN.REPLY) this.#replies.get(call)?.(text);
    if (kind === DOWN.INVOKE) void this.#run(call, text.slice(text.indexOf('\n') + 1));
    if (kind !== DOWN.LOAD) return;
    const { version } = JSON.parse(text) as { version: string };
    this.#send(UP.LOADED, 0, { version, isolate_bytes: 1000, failure: null });
  }

  async #run(call: number, context: string): Promise<void> {
    const { params } = JSON.parse(context) as { params: { ask?: string; kill?: boolean; exit?: boolean } };
    if (params.exit === true) process.exit(1);
    this.#send(UP.ENTER, call);
    if (params.kill === true) return void setTimeout(() => this.end('last words'), 50);
    if (params.ask !== undefined) {
      this.#send(UP.REQUEST, call, { id: 1, method: params.ask, params: { relayerId: 'known' } });
    }
    this.#send(UP.LEAVE, call);
    const json = params.ask === undefined ? context : await this.#reply(call);
    this.#send(UP.ENTER, call);
    this.#socket.write(encodeFrame(UP.RETURNED, call, `0 0 0 0 1\n${json}`));
  }

  async #reply(call: number): Promise<string> {
    const text = await new Promise<string>((resolve) => this.#replies.set(call, resolve));
    return JSON.stringify((JSON.parse(text) as { reply: unknown }).reply);
  }
}

mine.on('message', (messages: ToDriverMessages) => {
  for (const message of messages) {
    const { child } = message;
    if (message.type === 'open') children.set(child, new FakeChild(child));
    if (message.type === 'kill') children.get(child)?.end('');
    if (message.type === 'sample') say({ type: 'sample', child, pids: [], rss_bytes: 0, taken_ms: 0 });
  }
});
const hello: DriverHello = { thread: threadId, port, confinement: CONFINEMENT, comesBack: true };
parentPort?.postMessage(hello, [port]);

/** Piscina's task. */
export function task(): void {}
