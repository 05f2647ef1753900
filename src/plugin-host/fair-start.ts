import type { Clock } from '../domain/clock.ts';

/** How much of one turn of the loop the tasks may take, in ms; the last one begun may take longer. */
const TURN_MS = 5;
/** Tasks that one turn may begin where many wait. */
const MOST_PER_TURN = 64;

/**
 * Begins tasks at once while there are few, and spreads a flood over many turns of the loop, in which everything else
 * has its share. Owners take turns, so that none waits behind another's flood.
 */
export class FairStart {
  private readonly clock: Pick<Clock, 'elapsed'>;
  private readonly waiting = new Map<number, { tasks: (() => void)[]; at: number }>();
  private beganAt: number | undefined;
  private scheduled = false;

  constructor(clock: Pick<Clock, 'elapsed'>) {
    this.clock = clock;
  }

  /** Begins the task in this turn or a later one, each owner's in the order in which they came. */
  push(owner: number, task: () => void): void {
    if (this.waiting.size === 0 && this.hasTime()) return task();
    const queue = this.waiting.get(owner) ?? { tasks: [], at: 0 };
    queue.tasks.push(task);
    this.waiting.set(owner, queue);
    this.schedule();
  }

  /** Each in its own immediate: what a task's promises do at once is done, and counted, before the next begins. */
  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    for (let step = 0; step < MOST_PER_TURN; step++) setImmediate(() => this.step());
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
