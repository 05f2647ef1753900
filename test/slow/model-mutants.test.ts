/**
 * Tests the model test with engines that have one fault each. If the judge misses one of them, it would miss that fault
 * in the real engine too.
 */

import t from 'tap';
import { sideBySide } from '../check/project.ts';
import { drawTelling, type History, liveThrough } from '../support/model/histories.ts';
import { isFaultless } from '../support/model/judge.ts';
import { mutants } from '../support/model/mutants.ts';
import type { Mutant, WorldKind } from '../support/model/world.ts';
import { worlds } from '../support/model/worlds.ts';
import { propertySeed } from '../support/properties.ts';

/** Worlds mostly wait, so several run at the same time. */
const AT_ONCE = 2;
/** The time for the end of a mutant's history. Some never end, and that proves nothing. */
const END_MS = 5_000;
/** The most histories. A mutant that passes them all shows a gap in the judge. */
const WORLDS = 100;

/** The first fault that the judge finds in a mutant, or undefined. Histories that do not end prove nothing. */
async function firstFault<Event extends { kind: string }>(
  kind: WorldKind<Event>,
  mutant: Mutant,
): Promise<string | undefined> {
  const caught = new AbortController();
  let found: string | undefined;
  const live = async (history: History<Event>) => {
    if (caught.signal.aborted) return;
    const outcome = await liveThrough(kind, history, { mutant, endMs: END_MS, signal: caught.signal }).catch(
      () => undefined,
    );
    if (outcome === undefined || isFaultless(outcome.faults) || found !== undefined) return;
    found = Object.values(outcome.faults).flat()[0] as string;
    caught.abort();
  };
  const histories = drawTelling(kind, mutant, { count: WORLDS, seed: propertySeed() });
  for await (const _ of sideBySide(histories, AT_ONCE, live));
  return found;
}

for (const kind of worlds) {
  for (const mutant of mutants) {
    if (mutant.isWrongIn?.(kind) === false) continue;
    t.test(`${kind.name}: the judge sees that ${mutant.name}`, async (t) => {
      const fault = await firstFault(kind, mutant);
      t.ok(fault, fault ?? 'unseen');
    });
  }
}
