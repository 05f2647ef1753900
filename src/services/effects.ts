import { z } from 'zod';
import { AppError } from '../domain/errors.ts';
import type { Effect, EffectName } from '../domain/idempotency.ts';
import type { Json, WireObject } from '../domain/json/json.ts';
import { writeJson } from '../domain/json/json-text.ts';
import type { Reader, Store, StoredEffect, Writer } from '../store/store.ts';

/** What an effect of an earlier run came to, as far as it is known. */
export type EarlierEffect = Omit<StoredEffect, 'failure'>;

/**
 * What an earlier run of the same keyed request came to with this; undefined for nothing, and for a request without a
 * key. A service asks this before it checks anything: what has happened is not refused afterwards.
 * @throws AppError `EFFECT_UNKNOWN` for what was refused, which whoever asks in the name of a run has to tell by itself
 */
export async function earlierEffect(read: Reader, effect: Effect | undefined): Promise<EarlierEffect | undefined> {
  const stored = effect === undefined ? undefined : await read.effect(effect);
  if (stored?.failure !== undefined) throw new AppError('EFFECT_UNKNOWN', {});
  return stored;
}

/** What a write made, as a repeat will find it. */
export interface Made {
  outcome: Json;
  transactionId?: string;
}

/** A write that was made now, or by an earlier run of the same keyed request. */
export type Written<T extends Made> = { isRepeat: false; made: T } | { isRepeat: true; made: Made };

/** Runs a write body and notes its effect in the same commit, unless an earlier run did: then nothing is written. */
export async function writeOnce<T extends Made>(
  store: Store,
  effect: Effect | undefined,
  body: (writer: Writer) => Promise<T>,
): Promise<Written<T>> {
  return await store.write((writer) => inWriteOnce(writer, effect, body));
}

/** The same within a write body. */
export async function inWriteOnce<T extends Made>(
  writer: Writer,
  effect: Effect | undefined,
  body: (writer: Writer) => Promise<T>,
): Promise<Written<T>> {
  const earlier = await earlierEffect(writer, effect);
  if (earlier !== undefined) return { isRepeat: true, made: madeOf(earlier) };
  const made = await body(writer);
  const { outcome, transactionId } = made;
  if (effect !== undefined) {
    await writer.insertEffect(effect, transactionId === undefined ? { outcome } : { outcome, transactionId });
  }
  return { isRepeat: false, made };
}

function madeOf({ outcome = null, transactionId }: EarlierEffect): Made {
  return transactionId === null ? { outcome } : { outcome, transactionId };
}

/**
 * Does what is harmless to do twice, such as signing, and notes its answer before anybody sees it: runs of the same
 * keyed request all get the first one. `note` is written with it. The answer has no integers beyond 2^53.
 */
export async function answerOnce(
  store: Store,
  effect: Effect | undefined,
  act: () => Promise<WireObject>,
  note: (writer: Writer) => Promise<void>,
): Promise<WireObject> {
  if (effect === undefined) {
    const answer = await act();
    await store.write(note);
    return answer;
  }
  const earlier = await earlierEffect(store.read, effect);
  if (earlier?.outcome !== undefined) return earlier.outcome as WireObject;
  const answer = JSON.parse(writeJson(await act())) as Json;
  const { made } = await writeOnce(store, effect, async (writer) => {
    await note(writer);
    return { outcome: answer };
  });
  return made.outcome as WireObject;
}

/**
 * Notes that an effect may happen from now on, where it takes no part in a commit.
 * @throws AppError `EFFECT_UNKNOWN` when somebody did so before
 */
export async function beginEffect(store: Pick<Store, 'write'>, effect: Effect): Promise<void> {
  await store.write(async (writer) => {
    if ((await earlierEffect(writer, effect)) !== undefined) throw new AppError('EFFECT_UNKNOWN', {});
    await writer.insertEffect(effect, {});
  });
}

/**
 * Notes what came of an effect that was begun.
 * @throws AppError `EFFECT_UNKNOWN` when a plugin must not hear of it, because a further run would not
 */
export async function settleEffect(store: Pick<Store, 'write'>, effect: Effect, outcome: Json): Promise<void> {
  try {
    await store.write((writer) => writer.settleEffect(effect, { outcome }));
  } catch (cause) {
    throw effect.isStep ? new AppError('EFFECT_UNKNOWN', {}, { cause }) : cause;
  }
}

const failureSchema = z.strictObject({
  message: z.string(),
  code: z.string().exactOptional(),
  status: z.int().exactOptional(),
  details: z.json().exactOptional(),
});

/** With what a plugin was refused, as it read it. */
export type EffectFailure = z.output<typeof failureSchema>;

/** What runs of keyed plugin calls were told. */
export interface EffectsService {
  /** The names of all that earlier runs asked for. */
  recorded(claimId: string): Promise<EffectName[]>;
  /** With what an earlier run was refused; undefined when it was not. */
  failure(effect: Effect): Promise<EffectFailure | undefined>;
  /**
   * Notes with what a run is refused, before it is. Once that is noted the effect cannot happen any more.
   * @returns false when it has happened, so that the run must not hear of a failure
   */
  refuse(effect: Effect, failure: EffectFailure): Promise<boolean>;
}

export function createEffectsService(store: Pick<Store, 'read' | 'write'>): EffectsService {
  return {
    recorded: (claimId) => store.read.effectNames(claimId),

    async failure(effect) {
      const failure = (await store.read.effect(effect))?.failure;
      return failure === undefined ? undefined : failureSchema.parse(failure);
    },

    refuse: (effect, failure) =>
      store.write(async (writer) => {
        const stored = await writer.effect(effect);
        if (stored === undefined) await writer.insertEffect(effect, { failure });
        else if (stored.outcome !== undefined || stored.failure !== undefined) return false;
        else await writer.settleEffect(effect, { failure });
        return true;
      }),
  };
}
