import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { BodyTurns } from '../../../../../src/store/sqlite/body-turns.ts';

/** The turns of a body, over a clock that the test moves. It stands at 0 when the body starts. */
function begun(turnBegan = 0) {
  const at = { ms: 0 };
  const abandoned: string[] = [];
  const turns = new BodyTurns({ elapsed: () => at.ms }, turnBegan, () => void abandoned.push('abandoned'));
  turns.overdue.catch(() => undefined);
  return { at, abandoned, turns };
}

t.test('a body goes on without a pause for 5 ms, then the event loop has a turn', async (t) => {
  const { at, abandoned, turns } = begun();
  at.ms = 4;
  t.equal(turns.pause(), undefined);
  at.ms = 5;
  let hadTurn = false;
  setImmediate(() => {
    hadTurn = true;
  });
  const paused = turns.pause();
  t.equal(turns.pause(), paused, 'statements that were asked for together wait together');
  await paused;
  t.ok(hadTurn);
  t.equal(turns.pause(), undefined, 'the next turn has its own time');
  turns.end();
  await nextTurn();
  await nextTurn();
  t.same(abandoned, [], 'a pause is no other wait');
});

t.test('a body that starts late in a turn has only the rest of it', async (t) => {
  const { at, turns } = begun(-3);
  at.ms = 1;
  t.equal(turns.pause(), undefined);
  at.ms = 2;
  await turns.pause();
  t.equal(turns.began, 2, 'the next body starts in the turn after the pause');
  turns.end();
});

t.test('a body that waits for something else is overdue, also after a pause', async (t) => {
  const first = begun();
  await t.rejects(first.turns.overdue, /awaited something other than its writer/);
  t.same(first.abandoned, ['abandoned']);

  const later = begun();
  later.at.ms = 5;
  await later.turns.pause();
  t.same(later.abandoned, []);
  await t.rejects(later.turns.overdue, /awaited something other than its writer/);
});

t.test('a body that ends during a pause is not overdue', async (t) => {
  const { at, abandoned, turns } = begun();
  at.ms = 5;
  const paused = turns.pause();
  turns.end();
  await paused;
  await nextTurn();
  await nextTurn();
  t.same(abandoned, []);
});
