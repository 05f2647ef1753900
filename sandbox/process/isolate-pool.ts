import type { DurableStart, PluginVersion } from '../contract.ts';
import { EvaluationError, type GuestIsolate } from './isolate.ts';

/** How far a finished isolate may have grown to serve again, as a share of the room below its heap limit. */
const MAX_GROWTH = 0.5;
/**
 * An isolate ends after this many calls, so that slow leaks of a plugin never matter. V8 compiles the code of each isolate
 * anew: with few calls for each, that would be a tenth of a short call.
 */
const MAX_CALLS = 100_000;
/** How many isolates wait ready-made: one for plugins that reuse them, more where every call uses one up. */
const READY = { plugin: 1, call: 3 } as const;
/** Share of the process's memory that waiting isolates may take together. */
const POOL_SHARE = 0.25;
/** A trial whose time or memory ran out says nothing about the module. After so many there is no further one. */
const MAX_TRIALS = 3;
const MIB = 1_048_576;

/** Makes isolates of the pool's version. `start` is that of the durable call for which the module is evaluated. */
export interface IsolateMaker {
  /**
   * Makes one isolate.
   * @param isRenewable whether its module can be evaluated anew
   * @throws EvaluationError when the module does not evaluate
   */
  create(start?: DurableStart, isRenewable?: boolean): GuestIsolate;
  /** Makes the first renewable isolate. Returns false when there can be none, undefined when that is not known yet. */
  tryRenewable(start: DurableStart): GuestIsolate | false | undefined;
  /** Evaluates the module of a renewable isolate anew. Returns whether it serves on. */
  renew(isolate: GuestIsolate, start?: DurableStart): boolean;
  /** Takes an isolate that serves no other call, and disposes of it now or soon. */
  discard(isolate: GuestIsolate): void;
}

/**
 * The waiting isolates of one plugin version. Last in, first out: the most recently used isolate serves next, and
 * isolates that stay unused can be let go.
 *
 * A durable call gets a module that has served no call, so that each of its runs begins alike: evaluated anew in a
 * renewable isolate, or else in an isolate that has served no call. Either all of a version's durable calls get the one
 * or all get the other. If the module reads the time or draws numbers while it loads, it is evaluated for that call, with
 * the call's own time and chance, in an isolate of its own.
 */
export class IsolatePool {
  readonly version: PluginVersion;
  readonly #maker: IsolateMaker;
  #waiting: GuestIsolate[] = [];
  #room = 1;
  #taken = 0;
  #fewest = 0;
  #draining = false;
  /** Whether durable calls come, so that an isolate waits for the next one. */
  #hasDurable = false;
  /** Whether durable calls get renewable isolates. Tried for the first of them; undefined until a trial says it. */
  #renews: boolean | undefined;
  #trialsLeft = MAX_TRIALS;
  #isPure = true;
  /** Isolates whose first call, a durable one, still runs. */
  readonly #durable = new Set<GuestIsolate>();

  constructor(version: PluginVersion, maker: IsolateMaker) {
    this.version = version;
    this.#maker = maker;
  }

  /** Isolates alive: waiting ones and those in use. */
  get size(): number {
    return this.#waiting.length + this.#taken;
  }

  /** Whether a call gets an isolate without waiting for its module. */
  isReadyFor(start?: DurableStart): boolean {
    if (start === undefined) return this.#readyForPlain() > 0;
    return this.#unused() >= 0 || this.#waiting[this.#worn()]?.evaluatedQuickly === true;
  }

  /** True when fewer isolates wait than should; {@link prepare} makes one. */
  get wantsMore(): boolean {
    const ready = Math.min(READY[this.version.isolation], this.#room);
    if (this.#draining) return false;
    if (this.#readyForPlain() < ready) return true;
    if (!this.#hasDurable || !this.#isPure || this.#unused() >= 0) return false;
    return this.#renews === true ? this.#worn() >= 0 : this.#waiting.length < this.#room;
  }

  /**
   * Makes the first isolate of the version. Its size decides how many more may wait.
   * @returns its size in bytes
   * @throws EvaluationError
   */
  open(): number {
    const isolate = this.#maker.create();
    const bytes = isolate.residentBytes;
    this.#room = Math.max(1, Math.floor((this.version.limits.process_mb * MIB * POOL_SHARE) / Math.max(1, bytes)));
    this.#isPure = isolate.pure;
    // Where loading reads the time or chance, what the module does with shared objects may depend on them.
    if (!this.#isPure) this.#renews = false;
    this.#waiting.push(isolate);
    return bytes;
  }

  /** @throws EvaluationError */
  prepare(): void {
    const isolate = this.#renews === true && this.#unused() < 0 ? this.#renewed() : undefined;
    this.#waiting.push(isolate ?? this.#maker.create());
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
    isolate.unused = false;
    return isolate;
  }

  /** Plain calls leave to durable ones what is theirs: renewable isolates always, unused ones if they can. */
  #takeAny(): GuestIsolate {
    const used = this.#hasDurable ? this.#pick(({ unused, isRenewable }) => !unused && !isRenewable) : undefined;
    return used ?? this.#pick(({ isRenewable }) => !isRenewable) ?? this.#maker.create();
  }

  /** How many isolates wait that a plain call may have. */
  #readyForPlain(): number {
    let ready = 0;
    for (const { isRenewable } of this.#waiting) if (!isRenewable) ready += 1;
    return ready;
  }

  #takeUnused(start: DurableStart): GuestIsolate {
    this.#hasDurable = true;
    if (this.#renews === undefined) {
      const first = this.#maker.tryRenewable(start);
      this.#trialsLeft -= 1;
      if (first !== undefined || this.#trialsLeft === 0) this.#renews = Boolean(first);
      if (first) return first;
    }
    const unused = this.#unused();
    const [isolate] = unused < 0 ? [] : this.#waiting.splice(unused, 1);
    return isolate ?? this.#renewed(start) ?? this.#renewable(start) ?? this.#maker.create(start);
  }

  /** Makes a further renewable isolate. Returns undefined when there is none, or when it does not come out right. */
  #renewable(start: DurableStart): GuestIsolate | undefined {
    if (this.#renews !== true) return undefined;
    try {
      const isolate = this.#maker.create(start, true);
      if (isolate.sound) return isolate;
      this.#maker.discard(isolate);
    } catch (error) {
      if (!(error instanceof EvaluationError)) throw error;
    }
    return undefined;
  }

  #pick(suits: (isolate: GuestIsolate) => boolean): GuestIsolate | undefined {
    const place = this.#waiting.findLastIndex(suits);
    return place < 0 ? undefined : this.#waiting.splice(place, 1)[0];
  }

  /** The place of a waiting isolate that any durable call may have, or -1. */
  #unused(): number {
    return this.#isPure
      ? this.#waiting.findLastIndex(({ unused, isRenewable }) => unused && isRenewable === (this.#renews === true))
      : -1;
  }

  /** The place of a waiting isolate whose module can be evaluated anew, or -1. */
  #worn(): number {
    return this.#waiting.findLastIndex(({ unused, isRenewable }) => isRenewable && !unused);
  }

  /** Takes a waiting renewable isolate, with its module evaluated anew. Discards those that do not serve on. */
  #renewed(start?: DurableStart): GuestIsolate | undefined {
    for (let place = this.#worn(); place >= 0; place = this.#worn()) {
      const [isolate] = this.#waiting.splice(place, 1) as [GuestIsolate];
      if (this.#maker.renew(isolate, start)) return isolate;
      this.#maker.discard(isolate);
    }
    return undefined;
  }

  /** Takes back the isolate of a finished call. Keeps it to serve again, or discards it. */
  give(isolate: GuestIsolate, clean: boolean): void {
    this.#taken -= 1;
    // Each durable call leaves a used isolate. Where no durable call takes one, they would pile up.
    const isSpare =
      this.#durable.delete(isolate) && !isolate.isRenewable && this.#waiting.some(({ unused }) => !unused);
    if (clean && !isSpare && this.#mayServeAgain(isolate)) this.#waiting.push(isolate);
    else this.#maker.discard(isolate);
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
