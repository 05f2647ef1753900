/**
 * The promise: an accepted transaction has at most one effect on the chain, and none is lost. Its reported end is true
 * and has a cause. This holds through crashes, lost messages, reorganisations and foreign use of the key.
 */

import t from 'tap';
import { sideBySide } from '../check/project.ts';
import { describeHistory, drawHistories, type History, liveThrough } from '../support/model/histories.ts';
import { isFaultless } from '../support/model/judge.ts';
import type { WorldKind } from '../support/model/world.ts';
import { worlds } from '../support/model/worlds.ts';
import { propertySeed, runsOf } from '../support/properties.ts';

/** Worlds mostly wait, so several run at the same time. */
const AT_ONCE = 8;
const WORLDS = 20;

async function judgeHealthy<Event>(kind: WorldKind<Event>): Promise<{ accepted: number; broken: string[] }> {
  const histories = drawHistories(kind, runsOf(WORLDS), propertySeed());
  const broken: string[] = [];
  let accepted = 0;
  const live = async (history: History<Event>) => {
    const outcome = await liveThrough(kind, history);
    accepted += outcome.accepted;
    if (!isFaultless(outcome.faults)) broken.push(`${JSON.stringify(outcome.faults)} in ${describeHistory(history)}`);
  };
  for await (const _ of sideBySide(histories, AT_ONCE, live));
  return { accepted, broken };
}

for (const kind of worlds) {
  t.test(`${kind.name}: one effect, nothing lost, true ends`, async (t) => {
    const { accepted, broken } = await judgeHealthy(kind);
    t.strictSame(broken, []);
    t.ok(accepted > runsOf(WORLDS));
  });
}
