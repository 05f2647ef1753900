import type { PluginVersion } from '../protocol.ts';
import type { GuestIsolate } from './isolate.ts';

/** Share of the heap limit up to which a finished isolate may have grown and still serve again. */
const MOST_GROWTH = 0.5;
/** Calls after which an isolate has served its time, so that slow leaks of a plugin never matter. */
const MOST_CALLS = 5000;
/** Isolates that wait ready-made: one for plugins that reuse them, more where every call takes one away. */
const READY = { plugin: 1, call: 3 } as const;
/** Share of the process's memory that waiting isolates may take together. */
const SHELF_SHARE = 0.25;
const MIB = 1_048_576;

/** Makes one isolate of the shelf's version; throws when the module does not evaluate. */
export type CreateIsolate = () => GuestIsolate;

/** The waiting isolates of one plugin version. Last in, first out: the warmest serves, the others may be let go. */
export class IsolateShelf {
  readonly version: PluginVersion;
  readonly #create: CreateIsolate;
  #waiting: GuestIsolate[] = [];
  #room = 1;
  #taken = 0;
  #fewest = 0;
  #draining = false;

  constructor(version: PluginVersion, create: CreateIsolate) {
    this.version = version;
    this.#create = create;
  }

  /** Isolates alive: waiting ones and those in use. */
  get size(): number {
    return this.#waiting.length + this.#taken;
  }

  /** True when a call gets an isolate without waiting for its module. */
  get isReady(): boolean {
    return this.#waiting.length > 0;
  }

  /** True when fewer isolates wait than should; {@link prepare} makes one. */
  get wantsMore(): boolean {
    const ready = Math.min(READY[this.version.isolation], this.#room);
    return !this.#draining && this.#waiting.length < ready;
  }

  /**
   * The first isolate of the version: its size says how many more may wait.
   * @returns its size in bytes
   * @throws EvaluationError
   */
  open(): number {
    const isolate = this.#create();
    const bytes = isolate.residentBytes;
    this.#room = Math.max(1, Math.floor((this.version.limits.process_mb * MIB * SHELF_SHARE) / Math.max(1, bytes)));
    this.#waiting.push(isolate);
    return bytes;
  }

  /** @throws EvaluationError */
  prepare(): void {
    this.#waiting.push(this.#create());
  }

  /**
   * An isolate for one call, ready-made or made now.
   * @throws EvaluationError
   */
  take(): GuestIsolate {
    const isolate = this.#waiting.pop() ?? this.#create();
    this.#fewest = Math.min(this.#fewest, this.#waiting.length);
    this.#taken += 1;
    isolate.served += 1;
    return isolate;
  }

  /** Takes back the isolate of a finished call, to serve again or to end here. */
  give(isolate: GuestIsolate, clean: boolean): void {
    this.#taken -= 1;
    if (clean && this.#mayServeAgain(isolate)) this.#waiting.push(isolate);
    else isolate.dispose();
  }

  /** Lets go of the isolates that nobody needed since the last sweep, but for those that should wait. */
  sweep(): void {
    const spare = this.#fewest - READY[this.version.isolation];
    // The oldest lie at the bottom.
    for (const isolate of this.#waiting.splice(0, Math.max(0, spare))) isolate.dispose();
    this.#fewest = this.#waiting.length;
  }

  /** Ends what waits, and from now on whatever comes back. Safe to call twice. */
  drain(): void {
    this.#draining = true;
    for (const isolate of this.#waiting) isolate.dispose();
    this.#waiting = [];
  }

  #mayServeAgain(isolate: GuestIsolate): boolean {
    return (
      !this.#draining &&
      this.version.isolation === 'plugin' &&
      isolate.sound &&
      isolate.served < MOST_CALLS &&
      this.#waiting.length < this.#room &&
      isolate.growth(this.version.limits.memory_mb) < MOST_GROWTH
    );
  }
}
