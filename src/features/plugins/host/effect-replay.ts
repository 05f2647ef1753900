import { AppError } from '../../../domain/errors.ts';
import type { IdempotencyClaim, KeyedEffect, KeyedEffectName } from '../../../domain/idempotency.ts';
import { withTimeout } from '../../../domain/with-timeout.ts';

/** How long a run may be silent, in ms. After that, an effect that still waits counts as a mismatch. */
export const SILENCE_MS = 2000;

export interface EffectReplayOptions {
  claim: IdempotencyClaim;
  /** No earlier run exists, so no effect is recorded. */
  isFirst: boolean;
  silenceMs?: number;
}

interface Waiting {
  readonly method: string;
  readonly judged: PromiseWithResolvers<void>;
}

/**
 * The effects of one run of a plugin call with an idempotency key. An effect that an earlier run has recorded gets the
 * recorded outcome; parallel effects may come in any order. An effect that is not recorded is new. But the plugin may
 * ask for it in place of a recorded effect that this run has not asked for. So a new effect waits until the run has
 * asked for all recorded effects. When the run asks for nothing more before that, it ends.
 */
export class EffectReplay {
  readonly #claim: IdempotencyClaim;
  readonly #isFirst: boolean;
  readonly #silenceMs: number;
  readonly #counts = new Map<string, number>();
  /** The recorded effects that this run has not asked for yet. Undefined until they are read. */
  #unmet: Promise<Set<string>> | undefined;
  readonly #waiting = new Set<Waiting>();
  /**
   * Capability calls that are neither answered nor waiting here. After their answers the plugin may ask for more
   * effects.
   */
  #busy = 0;
  #silence: NodeJS.Timeout | undefined;
  readonly #underWay = new Set<Promise<unknown>>();
  #hasEnded = false;

  constructor({ claim, isFirst, silenceMs = SILENCE_MS }: EffectReplayOptions) {
    this.#claim = claim;
    this.#isFirst = isFirst;
    this.#silenceMs = silenceMs;
  }

  /** Names the next effect with this payload. */
  next(payloadHash: string): KeyedEffect {
    const occurrence = this.#counts.get(payloadHash) ?? 0;
    this.#counts.set(payloadHash, occurrence + 1);
    return { claim: this.#claim, payloadHash, occurrence, isStep: true };
  }

  /**
   * Resolves when an effect may happen, with whether it is recorded.
   * @param recorded reads the names of the effects that earlier runs asked for
   * @throws AppError `EFFECT_MISMATCH`
   */
  async meet(
    effect: KeyedEffect,
    method: string,
    recorded: (claimId: string) => Promise<readonly KeyedEffectName[]>,
  ): Promise<boolean> {
    this.#unmet ??= this.#isFirst ? Promise.resolve(new Set<string>()) : namesOf(recorded(this.#claim.id));
    const unmet = await this.#unmet;
    const isRecorded = unmet.delete(nameOf(effect));
    if (unmet.size > 0) {
      if (!isRecorded) await this.#othersAreMet(method);
    } else {
      for (const { judged } of this.#waiting) judged.resolve();
    }
    return isRecorded;
  }

  /** Counts a capability call of the run until it is answered. `settled` waits only for calls that have an effect. */
  async track<T>(call: Promise<T>, hasEffect: boolean): Promise<T> {
    if (hasEffect) this.#underWay.add(call);
    this.#enter();
    try {
      return await call;
    } finally {
      this.#underWay.delete(call);
      this.#leave();
    }
  }

  /** Whether all effects that the run asked for have ended within `withinMs` milliseconds. */
  async settled(withinMs: number): Promise<boolean> {
    return (await withTimeout(withinMs, Promise.allSettled(this.#underWay))) !== undefined;
  }

  /** Ends the run and rejects effects that wait. Safe to call twice. */
  end(): void {
    this.#hasEnded = true;
    this.#endSilence();
    for (const { judged } of this.#waiting) judged.reject(new RunIsOver());
  }

  async #othersAreMet(method: string): Promise<void> {
    if (this.#hasEnded) throw new RunIsOver();
    const waiting: Waiting = { method, judged: Promise.withResolvers() };
    this.#waiting.add(waiting);
    this.#leave();
    try {
      await waiting.judged.promise;
    } finally {
      this.#waiting.delete(waiting);
      this.#enter();
    }
  }

  #enter(): void {
    this.#busy += 1;
    this.#endSilence();
  }

  #leave(): void {
    this.#busy -= 1;
    if (this.#busy > 0 || this.#waiting.size === 0) return;
    this.#silence ??= setTimeout(() => void this.#giveUp(), this.#silenceMs);
  }

  async #giveUp(): Promise<void> {
    const unmet = String((await this.#unmet)?.size ?? 0);
    for (const { method, judged } of this.#waiting) judged.reject(new AppError('EFFECT_MISMATCH', { method, unmet }));
  }

  #endSilence(): void {
    clearTimeout(this.#silence);
    this.#silence = undefined;
  }
}

class RunIsOver extends Error {
  constructor() {
    super('The plugin call is over');
  }
}

async function namesOf(recorded: Promise<readonly KeyedEffectName[]>): Promise<Set<string>> {
  return new Set((await recorded).map(nameOf));
}

function nameOf({ payloadHash, occurrence }: KeyedEffectName): string {
  return `${payloadHash}/${occurrence}`;
}
