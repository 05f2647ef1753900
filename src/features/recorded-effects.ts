import { z } from 'zod';
import { AppError } from '../domain/errors.ts';
import type { JournalEntry, KeyedEffect, KeyedEffectName } from '../domain/idempotency.ts';
import type { Json, WireObject } from '../domain/json/json.ts';
import { writeJson } from '../domain/json/json-text.ts';
import type { Store, StoredEffect, StoreReader, StoreWriter, WriteOptions } from '../store/store.ts';

/** The outcome of an effect of an earlier run, as far as it is known. */
export type EarlierEffect = Omit<StoredEffect, 'failure'>;

/**
 * Finds this effect in earlier runs of the same keyed request. Undefined: there was none, or the request has no key. A
 * service calls this before any other check, so that an effect that happened is not refused afterwards.
 * @throws AppError `EFFECT_UNKNOWN` for an effect that was refused; callers that act for a run handle refusals
 * themselves
 */
export async function earlierEffect(
  read: StoreReader,
  effect: KeyedEffect | undefined,
): Promise<EarlierEffect | undefined> {
  const stored = effect === undefined ? undefined : await read.effect(effect);
  if (stored?.failure !== undefined) throw new AppError('EFFECT_UNKNOWN', {});
  return stored;
}

/** The result of a write, as a repeat finds it. */
export interface WriteResult {
  outcome: Json;
  transactionId?: string;
}

/** The result of a write, made now or by an earlier run of the same keyed request. */
export type OnceResult<T extends WriteResult> = { isRepeat: false; made: T } | { isRepeat: true; made: WriteResult };

/**
 * Runs a write body and records its effect in the same commit. If an earlier run recorded the effect, it writes
 * nothing. The options are those of the body; one that records an effect is not apart.
 */
export async function writeEffectOnce<T extends WriteResult>(
  store: Store,
  effect: KeyedEffect | undefined,
  body: (writer: StoreWriter) => Promise<T>,
  { isApart = false }: WriteOptions = {},
): Promise<OnceResult<T>> {
  return await store.write((writer) => inWriteOnce(writer, effect, body), {
    isApart: isApart && effect === undefined,
  });
}

/** Does the same as {@link writeEffectOnce} within a write body. */
export async function inWriteOnce<T extends WriteResult>(
  writer: StoreWriter,
  effect: KeyedEffect | undefined,
  body: (writer: StoreWriter) => Promise<T>,
): Promise<OnceResult<T>> {
  const earlier = await earlierEffect(writer, effect);
  if (earlier !== undefined) return { isRepeat: true, made: madeOf(earlier) };
  const made = await body(writer);
  const { outcome, transactionId } = made;
  if (effect !== undefined) {
    await writer.insertEffect(effect, transactionId === undefined ? { outcome } : { outcome, transactionId });
  }
  return { isRepeat: false, made };
}

function madeOf({ outcome = null, transactionId }: EarlierEffect): WriteResult {
  return transactionId === null ? { outcome } : { outcome, transactionId };
}

/**
 * Performs an action that may safely run twice, such as signing. Stores its answer before returning it, so that all
 * runs of the same keyed request get the first answer. `note` is written in the same commit. The answer has no integers
 * beyond 2^53.
 */
export async function answerOnce(
  store: Store,
  effect: KeyedEffect | undefined,
  act: () => Promise<WireObject>,
  note: (writer: StoreWriter) => Promise<void>,
): Promise<WireObject> {
  if (effect === undefined) {
    const answer = await act();
    await store.write(note);
    return answer;
  }
  const earlier = await earlierEffect(store.read, effect);
  if (earlier?.outcome !== undefined) return earlier.outcome as WireObject;
  const answer = JSON.parse(writeJson(await act())) as Json;
  const { made } = await writeEffectOnce(store, effect, async (writer) => {
    await note(writer);
    return { outcome: answer };
  });
  return made.outcome as WireObject;
}

/**
 * Records that an effect may happen from now on. It is for effects outside of a commit.
 * @throws AppError `EFFECT_UNKNOWN` when it was recorded before
 */
export async function beginEffect(store: Pick<Store, 'write'>, effect: KeyedEffect): Promise<void> {
  await store.write(async (writer) => {
    if ((await earlierEffect(writer, effect)) !== undefined) throw new AppError('EFFECT_UNKNOWN', {});
    await writer.insertEffect(effect, {});
  });
}

/**
 * Records the outcome of an effect that was begun.
 * @throws AppError `EFFECT_UNKNOWN` when recording fails and a plugin must not see an outcome that a further run would
 * not see
 */
export async function settleEffect(store: Pick<Store, 'write'>, effect: KeyedEffect, outcome: Json): Promise<void> {
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

/** The error with which an effect was refused, as the plugin saw it. */
export type EffectFailure = z.output<typeof failureSchema>;

/** The recorded effects and refusals of keyed plugin calls. */
export interface RecordedEffects {
  /** The names of all effects that earlier runs asked for. */
  recorded(claimId: string): Promise<KeyedEffectName[]>;
  /** What earlier runs heard, in order. */
  journal(claimId: string): Promise<JournalEntry[]>;
  /** The error with which an earlier run was refused; undefined when it was not. */
  failure(effect: KeyedEffect): Promise<EffectFailure | undefined>;
  /**
   * Records a refusal before the run sees it. After that the effect cannot happen any more.
   * @returns false when the effect has happened, so that the run must not see a failure
   */
  refuse(effect: KeyedEffect, failure: EffectFailure): Promise<boolean>;
}

export function createRecordedEffects(store: Pick<Store, 'read' | 'write'>): RecordedEffects {
  return {
    recorded: (claimId) => store.read.effectNames(claimId),
    journal: (claimId) => store.read.journal(claimId),

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
