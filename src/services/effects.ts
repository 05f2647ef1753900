import { AppError } from '../domain/errors.ts';
import type { Effect } from '../domain/idempotency.ts';
import type { Json, WireObject } from '../domain/json.ts';
import { writeJson } from '../domain/json-text.ts';
import type { Reader, Store, StoredEffect, Writer } from '../store/store.ts';

/**
 * What an earlier run of the same keyed request did at this place; undefined for nothing, and for a request without a
 * key. A use case asks this before its gates: what has happened is not refused afterwards.
 * @throws AppError `EFFECT_MISMATCH`
 */
export async function earlierEffect(read: Reader, effect: Effect | undefined): Promise<StoredEffect | undefined> {
  if (effect === undefined) return undefined;
  const stored = await read.effect(effect);
  if (stored !== undefined && stored.payloadHash !== effect.payloadHash) {
    throw new AppError('EFFECT_MISMATCH', { ordinal: String(effect.ordinal + 1) });
  }
  return stored;
}

/** What a write made, as a repeat will find it. */
export interface Made {
  outcome: Json;
  transactionId?: string;
}

/** A write that was made now, or by an earlier run of the same keyed request. */
export type Written<T extends Made> = { isRepeat: false; made: T } | { isRepeat: true; made: Made };

/**
 * Runs a write body and notes its effect in the same commit, unless an earlier run did: then nothing is written.
 * @throws AppError `EFFECT_MISMATCH`
 */
export async function writeOnce<T extends Made>(
  store: Store,
  effect: Effect | undefined,
  body: (writer: Writer) => Promise<T>,
): Promise<Written<T>> {
  return await store.write(async (writer) => {
    const earlier = await earlierEffect(writer, effect);
    if (earlier !== undefined) return { isRepeat: true, made: madeOf(earlier) };
    const made = await body(writer);
    const { outcome, transactionId } = made;
    if (effect !== undefined) {
      await writer.insertEffect(effect, transactionId === undefined ? { outcome } : { outcome, transactionId });
    }
    return { isRepeat: false, made };
  });
}

function madeOf({ outcome = null, transactionId }: StoredEffect): Made {
  return transactionId === null ? { outcome } : { outcome, transactionId };
}

/**
 * Does what is harmless to do twice, such as signing, and notes its answer before anybody sees it: runs of the same
 * keyed request all get the first one. The answer has no integers beyond 2^53.
 * @throws AppError `EFFECT_MISMATCH`
 */
export async function answerOnce(
  store: Store,
  effect: Effect | undefined,
  act: () => Promise<WireObject>,
): Promise<WireObject> {
  if (effect === undefined) return await act();
  const earlier = await earlierEffect(store.read, effect);
  if (earlier?.outcome !== undefined) return earlier.outcome as WireObject;
  const answer = JSON.parse(writeJson(await act())) as Json;
  const { made } = await writeOnce(store, effect, async () => ({ outcome: answer }));
  return made.outcome as WireObject;
}
