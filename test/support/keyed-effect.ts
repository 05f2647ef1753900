import type { IdempotencyClaim, KeyedEffect, KeyedEffectName } from '../../src/domain/idempotency.ts';
import type { Bundles } from '../../src/features/calls/bundles.ts';
import type { EffectFailure, RecordedEffects } from '../../src/features/recorded-effects.ts';
import type { Store } from '../../src/store/store.ts';

/** Makes an effect of a plugin call that has claimed its own idempotency key. */
export async function keyedEffect(store: Store, payloadHash = 'payload'): Promise<KeyedEffect> {
  return { claim: await keyedClaim(store), payloadHash, occurrence: 0, isStep: true };
}

async function keyedClaim(store: Store): Promise<IdempotencyClaim> {
  const id = crypto.randomUUID();
  const request = { scope: 'test', key: id, fingerprint: 'print' };
  const state = await store.write((writer) =>
    writer.claimKey(request, { id, owner: 'test', forMs: 60_000, isAlone: false }),
  );
  if (state.kind !== 'claimed') throw new Error(`not claimed: ${state.kind}`);
  return state.claim;
}

/** The outcomes of the runs of one keyed call, in memory. */
export class FakeEffects implements RecordedEffects {
  readonly #failures = new Map<string, EffectFailure>();
  readonly #known: KeyedEffect[] = [];
  /** Runs before a refusal is stored. */
  beforeRefusal: () => Promise<void> = async () => {};

  /** The effects that earlier runs asked for. */
  get names(): readonly KeyedEffectName[] {
    return this.#known;
  }

  recorded = async () => [...this.#known];
  journal = async () => [];
  failure = async (effect: KeyedEffect) => this.#failures.get(nameOf(effect));

  /** Records an effect that happened. */
  happened(effect: KeyedEffect): void {
    this.#known.push(effect);
  }

  refuse = async (effect: KeyedEffect, failure: EffectFailure) => {
    await this.beforeRefusal();
    if (this.#known.some((known) => nameOf(known) === nameOf(effect))) return false;
    this.#known.push(effect);
    this.#failures.set(nameOf(effect), failure);
    return true;
  };
}

function nameOf({ payloadHash, occurrence }: KeyedEffect): string {
  return `${payloadHash}/${occurrence}`;
}

/** Keeps no versions. */
export const NO_BUNDLES: Bundles = { keep: async () => undefined, find: async () => undefined };
