import type { CallReport, CallTask, PluginVersion } from '../../contract.ts';
import type { FromDriverMessage, ReplyMessage } from '../../protocol.ts';
import { NO_CALL } from './child-limits.ts';
import { ChildSupervisor, callNotStartedReport, type SupervisorSurroundings } from './child-supervisor.ts';
import { openJournal } from './journal.ts';

/** What the host wants of a child, by the number that it gives the child. */
export type ChildOrder =
  | { type: 'open'; child: number }
  | { type: 'load'; child: number; version: PluginVersion }
  | { type: 'close'; child: number; reason: string }
  | { type: 'reply'; child: number; call: number; message: ReplyMessage }
  | { type: 'cancel'; child: number; call: number };

/** The children whose processes one driver thread has. */
export class Children {
  readonly #around: SupervisorSurroundings;
  readonly #supervisors = new Map<number, ChildSupervisor>();

  constructor(around: SupervisorSurroundings) {
    this.#around = {
      ...around,
      post: (news) => {
        if (news.type === 'closed') this.#supervisors.delete(news.child);
        around.post(news);
      },
    };
  }

  /** Acts on an order. An order for a child that is gone is dropped, since `closed` is on its way. */
  order(order: ChildOrder): void {
    const supervisor = this.#supervisors.get(order.child);
    switch (order.type) {
      case 'open':
        return this.#open(order.child);
      case 'load':
        return supervisor?.load(order.version);
      case 'reply':
        return supervisor?.reply(order.call, order.message);
      case 'cancel':
        return supervisor?.cancel(order.call);
      case 'close':
        return supervisor?.close(order.reason);
      default:
        return order satisfies never;
    }
  }

  /** Passes on what the thread says. */
  receive(message: FromDriverMessage): void {
    this.#supervisors.get(message.child)?.receive(message);
  }

  /** Runs one call in its child. The promise always resolves. */
  run(task: CallTask): Promise<CallReport> {
    const supervisor = this.#supervisors.get(task.child);
    return supervisor === undefined ? Promise.resolve(callNotStartedReport()) : supervisor.run(task);
  }

  /** The thread has ended, and with it its hold on the processes. Ends all calls. */
  abandon(): void {
    for (const supervisor of this.#supervisors.values()) supervisor.abandon();
    this.#supervisors.clear();
  }

  #open(number: number): void {
    if (this.#supervisors.has(number)) throw new Error(`child ${number} is open already`);
    try {
      const journal = openJournal(this.#around.confinement);
      this.#supervisors.set(number, new ChildSupervisor(number, this.#around, journal));
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      this.#around.post({ type: 'closed', child: number, cause: 'start', detail, culprit: NO_CALL, stderr: '' });
    }
  }
}
