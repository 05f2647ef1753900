import { fc } from '../properties.ts';
import { type Faults, judgeCases } from './judge.ts';
import type { Mutant, WorldKind, WorldOptions } from './world.ts';

/** An event, and the number of engine calls before the next event. */
interface Moment<Event> {
  readonly event: Event;
  readonly calls: number;
}

/** A history of one world, and the sort of its chain. */
export interface History<Event> {
  readonly moments: readonly Moment<Event>[];
  readonly strict: boolean;
}

/** Draws histories. The same seed gives the same ones. */
export function drawHistories<Event>({ events }: WorldKind<Event>, count: number, seed: number): History<Event>[] {
  return draw(events, { maxLength: 30, count, seed });
}

/** Draws short histories in which a mutant's error is likely to show. */
export function drawTelling<Event extends { kind: string }>(
  { events }: WorldKind<Event>,
  { showsIn }: Mutant,
  { count, seed }: { count: number; seed: number },
): History<Event>[] {
  const isTelling = ({ kind }: Event) => kind.startsWith('accept') || showsIn.includes(kind);
  return draw(events.filter(isTelling), { maxLength: 12, count, seed });
}

function draw<Event>(
  event: fc.Arbitrary<Event>,
  { maxLength, count, seed }: { maxLength: number; count: number; seed: number },
): History<Event>[] {
  const moment = fc.record({ event, calls: fc.integer({ min: 0, max: 15 }) });
  const history = fc.record({ moments: fc.array(moment, { minLength: 3, maxLength }), strict: fc.boolean() });
  return fc.sample(history, { numRuns: count, unbiased: true, seed });
}

/** How a history came out. */
export interface Outcome {
  /** How many transactions were accepted. */
  readonly accepted: number;
  readonly faults: Faults;
}

/**
 * Runs a history in its own world and judges the result.
 * @throws an error with the history if it does not come to its end
 */
export async function liveThrough<Event>(
  kind: WorldKind<Event>,
  { moments, strict }: History<Event>,
  options: Omit<WorldOptions, 'strict'> = {},
): Promise<Outcome> {
  const world = await kind.open({ strict, ...options });
  try {
    for (const { event, calls } of moments) {
      options.signal?.throwIfAborted();
      await world.happen(event);
      await world.goOn(calls);
    }
    await world.end();
    const { cases, truth } = await world.evidence();
    return { accepted: cases.length, faults: judgeCases(cases, truth) };
  } catch (error) {
    throw new Error(describeHistory({ moments, strict }), { cause: error });
  } finally {
    await world.close();
  }
}

/** Describes a history, so that it can be run again. */
export function describeHistory(history: History<unknown>): string {
  return JSON.stringify(history);
}
