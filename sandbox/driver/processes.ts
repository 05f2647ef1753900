import type { ChildProcess } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { encodeFrame } from '../frames.ts';
import { parseFrame } from '../host/child/child-messages.ts';
import { type DoorAddress, type FromDriverMessage, KNOCK, type ToDriverMessage } from '../protocol.ts';
import { WatchedProcess } from './child-process.ts';
import type { ChildLauncher } from './launch.ts';
import type { ServiceNice } from './niceness.ts';

export interface ProcessesDeps {
  launcher: ChildLauncher;
  service: ServiceNice;
  door: DoorAddress;
  /** Starts a child's process with this channel, and with this descriptor as its journal. */
  start: (channel: Socket, journalFd: number | undefined) => ChildProcess;
  post: (message: FromDriverMessage) => void;
}

type Opening = Extract<ToDriverMessage, { type: 'open' }>;

/** The processes of one thread's children, by the numbers that the host gives them. */
export class ChildProcesses {
  readonly #deps: ProcessesDeps;
  /** Undefined while the channel of a child is being opened. */
  readonly #processes = new Map<number, WatchedProcess | undefined>();

  constructor(deps: ProcessesDeps) {
    this.#deps = deps;
  }

  /** Acts on one message of the host. A message for a child that is gone is dropped, since `gone` is on its way. */
  receive(message: ToDriverMessage): void {
    const { child } = message;
    switch (message.type) {
      case 'open':
        return this.#open(message);
      case 'watch':
        return this.#processes.get(child)?.watch(message.watch);
      case 'sample':
        return this.#processes.get(child)?.sample();
      case 'kill':
        if (this.#processes.has(child) && this.#processes.get(child) === undefined) return this.#gone(child);
        return this.#processes.get(child)?.kill();
      case 'parse': {
        const { buffer, byteOffset, byteLength } = message.payload;
        const text = Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
        return this.#deps.post({ type: 'parsed', child, frame: parseFrame(message.kind, text) });
      }
      default:
        return message satisfies never;
    }
  }

  /** Kills every process. Safe to call twice. */
  close(): void {
    for (const process of this.#processes.values()) process?.kill();
  }

  /** Opens the child's channel to the host, and gives the other end to the child. */
  #open(opening: Opening): void {
    const { child } = opening;
    const { door } = this.#deps;
    this.#processes.set(child, undefined);
    const channel = connect({ path: door.path });
    // What comes down the channel is for the child.
    channel.pause();
    channel.on('error', (error) => this.#failed(child, error));
    channel.on('connect', () =>
      channel.write(encodeFrame(KNOCK, child, door.secret), () => {
        if (this.#processes.has(child)) this.#start(opening, channel);
        // The child has its own copy.
        channel.destroy();
      }),
    );
  }

  #start({ child, journal_fd: journalFd, watch }: Opening, channel: Socket): void {
    const { start, launcher, service, post } = this.#deps;
    try {
      const process = new WatchedProcess(start(channel, journalFd ?? undefined), launcher, service, watch, (news) => {
        if (news.type === 'gone') this.#processes.delete(child);
        post({ ...news, child });
      });
      this.#processes.set(child, process);
    } catch (error) {
      // For instance, the service is out of descriptors. The error must not end the thread's other children.
      this.#failed(child, error);
    }
  }

  #failed(child: number, error: unknown): void {
    if (!this.#processes.has(child) || this.#processes.get(child) !== undefined) return;
    this.#deps.post({ type: 'failed', child, detail: error instanceof Error ? error.message : String(error) });
    this.#gone(child);
  }

  /** A child that has no process is gone. */
  #gone(child: number): void {
    this.#processes.delete(child);
    this.#deps.post({ type: 'gone', child, code: null, signal: null, stderr: '' });
  }
}
