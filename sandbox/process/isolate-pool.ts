import type { DurableStart, PluginVersion } from '../contract.ts';
import type { GuestIsolate } from './isolate.ts';

/** How far a finished isolate may have grown to serve again, as a share of the room below its heap limit. */
const MAX_GROWTH = 0.5;
/** An isolate ends after this many calls, so that slow leaks of a plugin never matter. */
const MAX_CALLS = 5000;
/** How many isolates wait ready-made: one for plugins that reuse them, more where every call uses one up. */
const READY = { plugin: 1, call: 3 } as const;
/** Share of the process's memory that waiting isolates may take together. */
const POOL_SHARE = 0.25;
const MIB = 1_048_576;

/**
 * Makes one isolate of the pool's version; throws when the module does not evaluate.
 * @param start of the durable call for which the module is evaluated
 */
export type CreateIsolate = (start?: DurableStart) => GuestIsolate;

/**
 * The waiting isolates of one plugin version. Last in, first out: the most recently used isolate serves next, and
 * isolates that stay unused can be let go.
 *
 * A durable call gets an isolate that has served no call, so that each of its runs begins alike. If the module reads the
 * time or draws numbers while it loads, it is evaluated for that call, with the call's own time and chance.
 */
export class IsolatePool {
  readonly version: PluginVersion;
  readonly #create: CreateIsolate;
  readonly #discard: (isolate: GuestIsolate) => void;
  #waiting: GuestIsolate[] = [];
  #room = 1;
  #taken = 0;
  #fewest = 0;
  #draining = false;
  /** Whether durable calls come, so that an isolate waits for the next one. */
  #hasDurable = false;
  #isPure = true;
  /** Isolates whose first call, a durable one, still runs. */
  readonly #durable = new Set<GuestIsolate>();

  /** @param discard takes an isolate that serves no other call, and disposes of it now or soon */
  constructor(
    version: PluginVersion,
    create: CreateIsolate,
    discard = (isolate: GuestIsolate): void => isolate.dispose(),
  ) {
    this.version = version;
    this.#create = create;
    this.#discard = discard;
  }

  /** Isolates alive: waiting ones and those in use. */
  get size(): number {
    return this.#waiting.length + this.#taken;
  }

  /** Whether a call gets an isolate without waiting for its module. */
  isReadyFor(start?: DurableStart): boolean {
    return start === undefined ? this.#waiting.length > 0 : this.#unused() >= 0;
  }

  /** True when fewer isolates wait than should; {@link prepare} makes one. */
  get wantsMore(): boolean {
    const ready = Math.min(READY[this.version.isolation], this.#room);
    if (this.#draining) return false;
    const lacksUnused = this.#hasDurable && this.#isPure && this.#unused() < 0;
    return this.#waiting.length < ready || (lacksUnused && this.#waiting.length < this.#room);
  }

  /**
   * Makes the first isolate of the version. Its size decides how many more may wait.
   * @returns its size in bytes
   * @throws EvaluationError
   */
  open(): number {
    const isolate = this.#create();
    const bytes = isolate.residentBytes;
    this.#room = Math.max(1, Math.floor((this.version.limits.process_mb * MIB * POOL_SHARE) / Math.max(1, bytes)));
    this.#isPure = isolate.pure;
    this.#waiting.push(isolate);
    return bytes;
  }

  /** @throws EvaluationError */
  prepare(): void {
    this.#waiting.push(this.#create());
  }

  /**
   * Returns an isolate for one call: a waiting one, else a new one.
   * @throws EvaluationError
   */
  take(start?: DurableStart): GuestIsolate {
    const isolate = start === undefined ? this.#takeAny() : this.#takeUnused(start);
    if (start !== undefined) this.#durable.add(isolate);
    this.#fewest = Math.min(this.#fewest, this.#waiting.length);
    this.#taken += 1;
    isolate.served += 1;
    return isolate;
  }

  #takeAny(): GuestIsolate {
    const used = this.#hasDurable ? this.#waiting.findLastIndex(({ served }) => served > 0) : -1;
    const [isolate] = used < 0 ? [this.#waiting.pop()] : this.#waiting.splice(used, 1);
    return isolate ?? this.#create();
  }

  #takeUnused(start: DurableStart): GuestIsolate {
    this.#hasDurable = true;
    const unused = this.#unused();
    const [isolate] = unused < 0 ? [] : this.#waiting.splice(unused, 1);
    return isolate ?? this.#create(start);
  }

  /** The place of a waiting isolate that any durable call may have, or -1. */
  #unused(): number {
    return this.#waiting.findLastIndex(({ served, pure }) => served === 0 && pure);
  }

  /** Takes back the isolate of a finished call. Keeps it to serve again, or discards it. */
  give(isolate: GuestIsolate, clean: boolean): void {
    this.#taken -= 1;
    // Each durable call leaves a used isolate, but no durable call takes one: they would pile up.
    const isSpare = this.#durable.delete(isolate) && this.#waiting.some(({ served }) => served > 0);
    if (clean && !isSpare && this.#mayServeAgain(isolate)) this.#waiting.push(isolate);
    else this.#discard(isolate);
  }

  /** Disposes of the isolates that no call needed since the last sweep, except those that should wait ready-made. */
  sweep(): void {
    const spare = this.#fewest - READY[this.version.isolation];
    // The oldest lie at the bottom.
    for (const isolate of this.#waiting.splice(0, Math.max(0, spare))) isolate.dispose();
    this.#fewest = this.#waiting.length;
  }

  /** Disposes of all waiting isolates, and from now on of each that comes back. Safe to call twice. */
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
      isolate.served < MAX_CALLS &&
      this.#waiting.length < this.#room &&
      isolate.growth(this.version.limits.memory_mb) < MAX_GROWTH
    );
  }
}
