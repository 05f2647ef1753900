import type { ChildProcess } from 'node:child_process';
import type { CallReport, CallTask, DriverData, DriverMessage, HostMessage } from '../protocol.ts';
import { type Journal, openJournal } from './journal.ts';
import { type Launcher, launch } from './launch.ts';
import { NO_CALL } from './pulse.ts';
import { Slot, unableToRun } from './slot.ts';

/** The children of one thread, by the numbers that the host gave them. */
export class Slots {
  readonly #data: DriverData;
  readonly #launcher: Launcher;
  readonly #post: (message: DriverMessage) => void;
  readonly #slots = new Map<number, Slot>();

  constructor(data: DriverData, launcher: Launcher, post: (message: DriverMessage) => void) {
    this.#data = data;
    this.#launcher = launcher;
    this.#post = post;
  }

  /** Acts on one message of the host; one for a slot that is gone is dropped, since `closed` is on its way. */
  receive(message: HostMessage): void {
    const slot = this.#slots.get(message.slot);
    switch (message.type) {
      case 'open':
        return this.#open(message.slot);
      case 'load':
        return slot?.load(message.version);
      case 'reply':
        return slot?.reply(message.call, message.message);
      case 'cancel':
        return slot?.cancel(message.call);
      case 'close':
        return slot?.close(message.reason);
      default:
        return message satisfies never;
    }
  }

  /** Runs one call in its slot. */
  run(task: CallTask): Promise<CallReport> {
    const slot = this.#slots.get(task.slot);
    return slot === undefined ? Promise.resolve(unableToRun()) : slot.run(task);
  }

  /** Kills every child. Safe to call twice. */
  close(reason: string): void {
    for (const slot of this.#slots.values()) slot.close(reason);
  }

  #open(number: number): void {
    if (this.#slots.has(number)) throw new Error(`slot ${number} is open already`);
    const journal = openJournal(this.#launcher);
    try {
      const slot = new Slot({
        slot: number,
        launcher: this.#launcher,
        start: () => this.#start(journal),
        journal,
        runtime: this.#data.runtime,
        post: (message) => {
          if (message.type === 'closed') this.#slots.delete(number);
          this.#post(message);
        },
      });
      this.#slots.set(number, slot);
    } catch (error) {
      // Where the service is out of descriptors, for instance: the thread's other children must not end of it.
      journal?.close();
      const detail = error instanceof Error ? error.message : String(error);
      this.#post({ type: 'closed', slot: number, cause: 'start', detail, culprit: NO_CALL, stderr: '' });
    }
  }

  #start(journal: Journal | undefined): ChildProcess {
    const child = launch(this.#launcher, this.#data.program, journal?.fd);
    // Without a descriptor to be had there is no process, and the error comes when nobody listens to it any more.
    child.on('error', () => undefined);
    if (!child.stdio) throw new Error('there is no file descriptor left for it');
    return child;
  }
}
