import { EndablePause } from '../../domain/endable-pause.ts';
import type { Log } from '../../observability/log.ts';
import type { Instances } from '../../store/instances.ts';

/** A relayer whose chain this instance does not reach. */
export interface UnreachedRelayer {
  relayerId: string;
  network: string;
  /** The latest cause. */
  cause: string;
  /** Whether another instance is running that has not reported the same. */
  isElsewhere: boolean;
}

export interface ReachDeps {
  /** Null where this instance has the store to itself. */
  instances: Instances | null;
  /**
   * Called when a relayer's reach is to be checked: another instance lost it, or no instance that may reach it is left.
   */
  onDoubt(relayerId: string): void;
  /** The pause before the doubt of another instance is raised again, in milliseconds. */
  doubtMs: number;
  /** On a clock that never goes back, in milliseconds. */
  elapsed(): number;
  log: Log;
}

/** Reports of this instance in the time that one report counts. */
const WORDS_PER_LIFE = 4;

/**
 * Tracks the relayers whose chain this instance does not reach, and what other instances report of theirs. A relayer
 * cannot work only when no instance reaches its chain. Until all have reported that, an instance that does not reach it
 * leaves the relayer to the others.
 */
export class ChainReach {
  readonly #deps: ReachDeps;
  readonly #mine = new Map<string, Omit<UnreachedRelayer, 'relayerId' | 'isElsewhere'>>();
  #others: readonly ReadonlySet<string>[] = [];
  /** When another instance's doubt was last raised here, by relayer. */
  readonly #raised = new Map<string, number>();
  readonly #pause = new EndablePause();
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(deps: ReachDeps) {
    this.#deps = deps;
  }

  /** Begins to report regularly that this instance is running. Resolves after the first report, even if it failed. */
  async start(): Promise<void> {
    const { instances } = this.#deps;
    if (instances === null || this.#closed || this.#running !== null) return;
    const first = this.#refresh();
    this.#running = first.then(() => this.#run(instances));
    await first;
  }

  /** Reports that this instance ends. Safe to call twice. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#pause.end();
    await this.#running;
    const { instances, log } = this.#deps;
    await instances?.leave().catch((error: unknown) => log.debug({ err: error }, 'the end was not told to the others'));
  }

  /**
   * Notes that this instance does not reach the chain of a relayer, and asks the others.
   * @returns true when no other instance is there that may reach it
   * @throws when the store does not answer
   */
  async lost(relayerId: string, seen: { network: string; cause: string }): Promise<boolean> {
    this.#mine.set(relayerId, seen);
    this.#others = await this.#report();
    return !this.#isElsewhere(relayerId);
  }

  /** Notes that this instance reaches the chain of a relayer. */
  found(relayerId: string): void {
    if (this.#mine.delete(relayerId)) this.#pause.end();
  }

  isLost(relayerId: string): boolean {
    return this.#mine.has(relayerId);
  }

  /** Whether some instance does not reach the chain of the relayer. */
  isDoubted(relayerId: string): boolean {
    return this.isLost(relayerId) || this.#others.some((lost) => lost.has(relayerId));
  }

  /** Whether this instance does not reach the relayer's chain, and another one may. */
  isForOthers(relayerId: string): boolean {
    return this.isLost(relayerId) && this.#isElsewhere(relayerId);
  }

  /** Whether there may be other instances at all. */
  get isShared(): boolean {
    return this.#deps.instances !== null;
  }

  get unreached(): UnreachedRelayer[] {
    return [...this.#mine].map(([relayerId, seen]) => ({
      relayerId,
      ...seen,
      isElsewhere: this.#isElsewhere(relayerId),
    }));
  }

  #isElsewhere(relayerId: string): boolean {
    return this.#others.some((lost) => !lost.has(relayerId));
  }

  async #report(): Promise<readonly ReadonlySet<string>[]> {
    return (await this.#deps.instances?.say([...this.#mine.keys()])) ?? [];
  }

  async #run({ lastsMs }: Instances): Promise<void> {
    while (!this.#closed) {
      await this.#pause.last(lastsMs / WORDS_PER_LIFE);
      if (!this.#closed) await this.#refresh();
    }
  }

  async #refresh(): Promise<void> {
    const { onDoubt, log } = this.#deps;
    const before = [...this.#mine.keys()].filter((id) => this.#isElsewhere(id));
    try {
      this.#others = await this.#report();
    } catch (error) {
      log.warn({ err: error }, 'hints of other instances are not received');
      return;
    }
    for (const id of before) if (this.isLost(id) && !this.#isElsewhere(id)) onDoubt(id);
    this.#raiseDoubts();
  }

  /**
   * Has relayers checked here whose chain another instance does not reach. Otherwise nobody would know when the last
   * instance loses it.
   */
  #raiseDoubts(): void {
    const { doubtMs, elapsed, onDoubt } = this.#deps;
    const doubted = new Set(this.#others.flatMap((lost) => [...lost]));
    for (const id of this.#raised.keys()) if (!doubted.has(id)) this.#raised.delete(id);
    for (const id of doubted) {
      if (this.isLost(id) || elapsed() - (this.#raised.get(id) ?? Number.NEGATIVE_INFINITY) < doubtMs) continue;
      this.#raised.set(id, elapsed());
      onDoubt(id);
    }
  }
}
