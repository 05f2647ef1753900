import type { CallReport, CallTask } from '../contract.ts';
import type { DriverData, DriverMessage, HostMessage } from '../protocol.ts';
import { NO_CALL } from './child-limits.ts';
import { ChildSupervisor, callNotStartedReport } from './child-supervisor.ts';
import { openJournal } from './journal.ts';
import { type ChildLauncher, launch } from './launch.ts';

/** The children of one thread, by the numbers that the host gives them. */
export class Children {
  readonly #runtime: string;
  readonly #launcher: ChildLauncher;
  readonly #post: (message: DriverMessage) => void;
  readonly #program: string;
  readonly #supervisors = new Map<number, ChildSupervisor>();

  constructor(data: DriverData, launcher: ChildLauncher, post: (message: DriverMessage) => void) {
    this.#runtime = data.runtime;
    this.#launcher = launcher;
    this.#post = post;
    this.#program = data.program;
  }

  /** Acts on one message of the host. A message for a child that is gone is dropped, since `closed` is on its way. */
  receive(message: HostMessage): void {
    const supervisor = this.#supervisors.get(message.child);
    switch (message.type) {
      case 'open':
        return this.#open(message.child);
      case 'load':
        return supervisor?.load(message.version);
      case 'reply':
        return supervisor?.reply(message.call, message.message);
      case 'cancel':
        return supervisor?.cancel(message.call);
      case 'close':
        return supervisor?.close(message.reason);
      default:
        return message satisfies never;
    }
  }

  /** Runs one call in its child. */
  run(task: CallTask): Promise<CallReport> {
    const supervisor = this.#supervisors.get(task.child);
    return supervisor === undefined ? Promise.resolve(callNotStartedReport()) : supervisor.run(task);
  }

  /** Kills every child. Safe to call twice. */
  close(reason: string): void {
    for (const supervisor of this.#supervisors.values()) supervisor.close(reason);
  }

  #open(number: number): void {
    if (this.#supervisors.has(number)) throw new Error(`child ${number} is open already`);
    const journal = openJournal(this.#launcher);
    try {
      const supervisor = new ChildSupervisor({
        child: number,
        launcher: this.#launcher,
        start: () => launch(this.#launcher, this.#program, journal?.fd),
        journal,
        runtime: this.#runtime,
        post: (message) => {
          if (message.type === 'closed') this.#supervisors.delete(number);
          this.#post(message);
        },
      });
      this.#supervisors.set(number, supervisor);
    } catch (error) {
      // For instance, the service is out of descriptors. The error must not end the thread's other children.
      journal?.close();
      const detail = error instanceof Error ? error.message : String(error);
      this.#post({ type: 'closed', child: number, cause: 'start', detail, culprit: NO_CALL, stderr: '' });
    }
  }
}
