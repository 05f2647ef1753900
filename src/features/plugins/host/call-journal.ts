import type { CapabilityReply, DurableStart, Json } from '../../../../sandbox/contract.ts';
import { AppError } from '../../../domain/errors.ts';
import type {
  CallStart,
  Delivery,
  IdempotencyClaim,
  JournalEntry,
  KeyedEffect,
  KeyedEffectName,
} from '../../../domain/idempotency.ts';
import { withTimeout } from '../../../domain/with-timeout.ts';
import { MAX_STEPS } from '../../calls/record.ts';

/** One capability call of a run. */
export interface Asked {
  /** Its number within the run. */
  request: number;
  method: string;
  /** A hash of method and payload. */
  hash: string;
  payload: Json;
}

/** An effect under the name that it has in all runs of its call. */
export interface NamedEffect {
  effect: KeyedEffect;
  /** Whether an earlier run had it: then it has happened, may have happened, or was refused. */
  isRecorded: boolean;
  /** Notes that the effect was stored, with all that its commit had of the journal. */
  stored(): void;
}

/** What the runs of one keyed call have in common. */
export interface RunJournal {
  /** With what the guest begins; undefined: its course depends on more than what it hears. */
  readonly durable: DurableStart | undefined;
  /** The time that the guest read when it asked, in milliseconds since the epoch; undefined: the real time. */
  askedAt(request: number): number | undefined;
  /** Notes that the guest waits for an answer, and since when. A further run waits no longer for that. */
  waits(request: number, since: number): void;
  /**
   * Resolves when a capability call may be answered: with what an earlier run heard, in the order in which that run
   * heard it, or with undefined once the guest has heard all of that. `onHeard` is called before the call goes on.
   * @throws AppError `EFFECT_MISMATCH`
   */
  meet(asked: Asked, hasEffect: boolean, onHeard?: (heard: Delivery) => void): Promise<Delivery | undefined>;
  effect(asked: Asked): NamedEffect;
  /** Notes what the guest is about to hear, at this moment. */
  hear(asked: Asked, reply: CapabilityReply, now: number): CapabilityReply;
  /** Whether what is asked for is answered at once: the run has heard all that earlier runs heard. */
  readonly isLive: boolean;
  /** Whether the journal has no room for what the run heard. Then it can have no effect any more. */
  readonly isFull: boolean;
  /** Counts a capability call until it is answered. `settled` waits only for calls that have an effect. */
  track<T>(call: Promise<T>): Promise<T>;
  /** Whether all effects that the run asked for have ended within `withinMs` milliseconds. */
  settled(withinMs: number): Promise<boolean>;
  /** What an earlier run asked for and this run, which has ended, did not. */
  missed(): AppError | undefined;
  /** Ends the run and rejects what waits. Safe to call twice. */
  end(): void;
}

export interface CallJournalOptions {
  claim: IdempotencyClaim;
  start: CallStart;
  /** What earlier runs heard. */
  deliveries?: readonly Delivery[];
  /** Since when they waited for what they did not hear, by the numbers of the requests. */
  waits?: Iterable<readonly [request: number, since: number]>;
  /** How many of these are stored; absent: all. */
  stored?: number;
  isStartStored?: boolean;
  /** The effects of earlier runs, by the hash and the number of their capability calls. */
  recorded?: readonly KeyedEffectName[];
  maxBytes: number;
}

/**
 * The journal of a keyed call: all that its guest heard, in order. A further run hears the same until the end of the
 * journal, and goes on from there. The guest's course depends on nothing else, so it asks for the same again; a run that
 * does not is ended.
 *
 * What was heard is stored no later than the next effect, which may depend on it: in the commit of that effect.
 */
export class CallJournal implements RunJournal {
  readonly claim: IdempotencyClaim;
  readonly start: CallStart;
  readonly #deliveries: Delivery[];
  readonly #maxBytes: number;
  /** The places of what earlier runs heard, by the numbers of the requests. */
  readonly #places: ReadonlyMap<number, number>;
  readonly #replayed: number;
  readonly #recorded: ReadonlyMap<number, string>;
  readonly #waiting = new Map<number, () => void>();
  readonly #waits: Map<number, number>;
  /** Locks that the guest believes to hold: they are taken again before it goes on. By their fences. */
  readonly #locks = new Map<number, () => Promise<void>>();
  readonly #live = Promise.withResolvers<void>();
  readonly #underWay = new Set<Promise<unknown>>();
  #next = 0;
  /** True once the guest has heard all that earlier runs heard. */
  #isAtEnd = false;
  /** True once it goes on from there. */
  #isLive = false;
  #stored: number;
  #isStartStored: boolean;
  #bytes = 0;
  #now: number;
  #isFull = false;

  constructor(options: CallJournalOptions) {
    const { claim, start, deliveries = [], waits = [], stored, isStartStored, recorded = [], maxBytes } = options;
    this.claim = claim;
    this.start = start;
    this.#deliveries = [...deliveries];
    this.#maxBytes = maxBytes;
    this.#replayed = deliveries.length;
    this.#stored = stored ?? deliveries.length;
    this.#isStartStored = isStartStored ?? deliveries.length > 0;
    this.#places = new Map(deliveries.map(({ request }, place) => [request, place]));
    this.#waits = new Map(waits);
    this.#recorded = new Map(recorded.map(({ occurrence, payloadHash }) => [occurrence, payloadHash]));
    this.#now = start.now;
    for (const delivery of deliveries) this.#bytes += sizeOf(delivery);
    this.#live.promise.catch(() => undefined);
    if (this.#replayed === 0) this.#goLive();
  }

  /** The journal for a further run in this process, which hears also what is not stored yet. */
  again(recorded: readonly KeyedEffectName[]): CallJournal {
    return new CallJournal({
      claim: this.claim,
      start: this.start,
      deliveries: this.#deliveries,
      waits: this.#waits,
      stored: this.#stored,
      isStartStored: this.#isStartStored,
      recorded,
      maxBytes: this.#maxBytes,
    });
  }

  get durable(): DurableStart {
    return { seed: this.start.seed, now: this.start.now };
  }

  /**
   * A further run may have heard more than the first one had when it asked, since answers that come together are given at
   * once.
   */
  askedAt(request: number): number {
    return this.#waits.get(request) ?? this.#now;
  }

  waits(request: number, since: number): void {
    this.#waits.set(request, since);
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  get heard(): readonly Delivery[] {
    return this.#deliveries;
  }

  async meet(asked: Asked, _: boolean, onHeard?: (heard: Delivery) => void): Promise<Delivery | undefined> {
    const { request, hash } = asked;
    const place = this.#places.get(request);
    const earlier = place === undefined ? undefined : this.#deliveries[place];
    if (earlier !== undefined && earlier.hash !== hash) throw mismatch(asked, earlier);
    const recorded = this.#recorded.get(request);
    if (recorded !== undefined && recorded !== hash) throw mismatch(asked, undefined);
    if (earlier === undefined) {
      if (!this.#isLive) await this.#live.promise;
      return undefined;
    }
    if (this.#waiting.has(request)) throw mismatch(asked, earlier);
    const heard = new Promise<Delivery>((resolve) => {
      this.#waiting.set(request, () => {
        this.#now = earlier.at;
        onHeard?.(earlier);
        resolve(earlier);
      });
    });
    // When the answers are given, each of them is awaited, so that they go out in their order.
    queueMicrotask(() => this.#advance());
    return await heard;
  }

  effect({ request, hash }: Asked): NamedEffect {
    let upTo: number | undefined;
    const unstored = () => {
      upTo = this.#deliveries.length;
      return this.unstored();
    };
    const effect = {
      claim: this.claim,
      payloadHash: hash,
      occurrence: request,
      isStep: true,
      // Read in the commit of the effect, so that the commit has all that the guest may have heard until then. When the
      // commit is made again, it is read again.
      get journal() {
        return unstored();
      },
    };
    return {
      effect,
      isRecorded: this.#recorded.has(request),
      stored: () => {
        if (upTo !== undefined) this.noteStored(upTo);
      },
    };
  }

  /** What is not stored yet. Undefined when all is. */
  unstored(): JournalEntry | undefined {
    const deliveries = this.#deliveries.slice(this.#stored);
    const waits = [...this.#waits];
    if (deliveries.length === 0 && waits.length === 0 && this.#isStartStored) return undefined;
    const start = this.#stored === 0 ? { start: this.start } : {};
    return { position: this.#stored, page: { ...start, deliveries, ...(waits.length > 0 && { waits }) } };
  }

  /** Notes that the first so many answers are stored. */
  noteStored(upTo: number): void {
    this.#isStartStored = true;
    this.#stored = Math.max(this.#stored, upTo);
  }

  hear({ request, method, hash, payload }: Asked, reply: CapabilityReply, now: number): CapabilityReply {
    this.#now = Math.max(this.#now, now);
    this.#waits.delete(request);
    const at = this.#now;
    const delivery = { request, method, hash, at, reply: reply as Json, ...shownPayload(payload) };
    this.#bytes += sizeOf(delivery);
    this.#isFull ||= this.#bytes > this.#maxBytes || this.#deliveries.length >= MAX_STEPS;
    if (!this.#isFull) this.#deliveries.push(delivery);
    return { ...reply, at };
  }

  /** Has a lock taken again before the guest goes on, unless it releases the lock first. */
  holds(fence: number, takeAgain: () => Promise<void>): void {
    if (!this.#isLive) this.#locks.set(fence, takeAgain);
  }

  released(fence: number): void {
    this.#locks.delete(fence);
  }

  track<T>(call: Promise<T>): Promise<T> {
    this.#underWay.add(call);
    const forget = () => this.#underWay.delete(call);
    call.then(forget, forget);
    return call;
  }

  async settled(withinMs: number): Promise<boolean> {
    if (this.#underWay.size === 0) return true;
    return (await withTimeout(withinMs, Promise.allSettled(this.#underWay))) !== undefined;
  }

  missed(): AppError | undefined {
    const left = this.#deliveries.slice(this.#next, this.#replayed);
    const first = left.find(({ request }) => !this.#waiting.has(request));
    return first && mismatch(undefined, first);
  }

  end(): void {
    if (!this.#isLive) this.#live.reject(new RunIsOver());
  }

  #advance(): void {
    for (;;) {
      const next = this.#deliveries[this.#next];
      if (this.#next >= this.#replayed || next === undefined) break;
      const deliver = this.#waiting.get(next.request);
      if (deliver === undefined) return;
      this.#waiting.delete(next.request);
      this.#next += 1;
      deliver();
    }
    if (!this.#isAtEnd) this.#goLive();
  }

  #goLive(): void {
    this.#isAtEnd = true;
    const begin = () => {
      this.#isLive = true;
      this.#live.resolve();
    };
    if (this.#locks.size === 0) begin();
    else this.#takeLocks().then(begin, this.#live.reject);
  }

  async #takeLocks(): Promise<void> {
    for (const takeAgain of this.#locks.values()) await takeAgain();
    this.#locks.clear();
  }
}

/**
 * The effects of a call that was half done before there were journals. Its runs hear the outcomes of effects with the
 * same payload again. A new effect waits until the run has asked for all recorded ones.
 */
export class EffectsWithoutJournal implements RunJournal {
  readonly durable = undefined;
  readonly isFull = false;
  readonly isLive = true;
  readonly #claim: IdempotencyClaim;
  readonly #counts = new Map<string, number>();
  readonly #recorded: ReadonlySet<string>;
  readonly #unmet: Set<string>;
  readonly #met = Promise.withResolvers<void>();
  readonly #named = new Map<number, KeyedEffect>();
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(claim: IdempotencyClaim, recorded: readonly KeyedEffectName[]) {
    this.#claim = claim;
    this.#recorded = new Set(recorded.map(nameOf));
    this.#unmet = new Set(this.#recorded);
    this.#met.promise.catch(() => undefined);
  }

  async meet({ request, hash }: Asked, hasEffect: boolean): Promise<undefined> {
    if (!hasEffect) return;
    const occurrence = this.#counts.get(hash) ?? 0;
    this.#counts.set(hash, occurrence + 1);
    const effect = { claim: this.#claim, payloadHash: hash, occurrence, isStep: true };
    this.#named.set(request, effect);
    this.#unmet.delete(nameOf(effect));
    if (this.#unmet.size === 0) this.#met.resolve();
    if (!this.#recorded.has(nameOf(effect))) await this.#met.promise;
  }

  effect({ request }: Asked): NamedEffect {
    const effect = this.#named.get(request);
    if (effect === undefined) throw new Error(`Effect ${request} was not met`);
    return { effect, isRecorded: this.#recorded.has(nameOf(effect)), stored: () => undefined };
  }

  hear(_: Asked, reply: CapabilityReply): CapabilityReply {
    return reply;
  }

  track<T>(call: Promise<T>): Promise<T> {
    this.#underWay.add(call);
    const forget = () => this.#underWay.delete(call);
    call.then(forget, forget);
    return call;
  }

  async settled(withinMs: number): Promise<boolean> {
    return (await withTimeout(withinMs, Promise.allSettled(this.#underWay))) !== undefined;
  }

  missed(): undefined {}

  askedAt(): undefined {}

  waits(): void {}

  end(): void {
    this.#met.reject(new RunIsOver());
  }
}

class RunIsOver extends Error {
  constructor() {
    super('The plugin call is over');
  }
}

/** The most characters of a payload that the journal keeps, and that an error shows. */
const MAX_PAYLOAD = 2048;
const MAX_SHOWN = 300;

function shownPayload(payload: Json): { payload?: Json } {
  const text = JSON.stringify(payload) ?? '';
  return text.length > MAX_PAYLOAD ? {} : { payload };
}

/** About how many bytes an answer takes. */
function sizeOf({ reply, payload }: Delivery): number {
  return 120 + JSON.stringify(reply).length + (payload === undefined ? 0 : JSON.stringify(payload).length);
}

function mismatch(asked: Asked | undefined, earlier: Delivery | undefined): AppError {
  const request = String(asked?.request ?? earlier?.request);
  return new AppError('EFFECT_MISMATCH', {
    request,
    asked: asked === undefined ? 'not made' : shown(asked),
    earlier: earlier === undefined ? 'an effect with another payload' : shown(earlier),
  });
}

function shown({ method, payload }: { method: string; payload?: Json }): string {
  const text = `${method} ${JSON.stringify(payload ?? {})}`;
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

function nameOf({ payloadHash, occurrence }: KeyedEffectName): string {
  return `${payloadHash}/${occurrence}`;
}
