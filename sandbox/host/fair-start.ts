import type { Clock } from '../contract.ts';

/** How long tasks may run in one turn of the event loop, in ms. The last task may run longer. */
const TURN_MS = 5;
/** The most waiting tasks that one turn begins. */
const MAX_PER_TURN = 64;

/**
 * Begins tasks at once while there are few. Spreads a flood of tasks over many turns of the event loop, so that other
 * work runs in between. Owners take turns, so that no owner waits behind another's flood.
 */
export class FairTaskStarter {
  private readonly clock: Pick<Clock, 'elapsed'>;
  private readonly waiting = new Map<number, { tasks: (() => void)[]; at: number }>();
  private beganAt: number | undefined;
  private scheduled = false;

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.clock = clock;
  }

  /** Begins the task in this turn or a later one. Tasks of one owner begin in the order in which they were pushed. */
  push(owner: number, task: () => void): void {
    if (this.waiting.size === 0 && this.hasTime()) return task();
    const queue = this.waiting.get(owner) ?? { tasks: [], at: 0 };
    queue.tasks.push(task);
    this.waiting.set(owner, queue);
    this.schedule();
  }

  /**
   * Runs each task in its own immediate. So a task's first promise callbacks run, and count as its time, before the
   * next task begins.
   */
  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    for (let step = 0; step < MAX_PER_TURN; step++) setImmediate(() => this.step());
    setImmediate(() => {
      this.scheduled = false;
      if (this.waiting.size > 0) this.schedule();
    });
  }

  private step(): void {
    const [next] = this.waiting;
    if (next === undefined || !this.hasTime()) return;
    const [owner, queue] = next;
    const task = queue.tasks[queue.at++];
    this.waiting.delete(owner);
    if (queue.at < queue.tasks.length) this.waiting.set(owner, queue);
    task?.();
  }

  private hasTime(): boolean {
    const now = this.clock.elapsed();
    if (this.beganAt === undefined) {
      this.beganAt = now;
      setImmediate(() => {
        this.beganAt = undefined;
      });
    }
    return now - this.beganAt < TURN_MS;
  }
}
