import t, { type Test } from 'tap';
import { ChainReach, type ReachDeps } from '../../../../../src/engine/relayers/unreached-chains.ts';
import { createLog } from '../../../../../src/observability/log.ts';
import { FakeInstances } from '../../../../support/fake-instances.ts';

const SEEN = { network: 'fake', cause: 'connection refused' };

function reachOf(t: Test, parts: Partial<ReachDeps> = {}) {
  const doubts: string[] = [];
  const lines: string[] = [];
  const reach = new ChainReach({
    instances: null,
    onDoubt: (id) => doubts.push(id),
    doubtMs: 60_000,
    elapsed: () => performance.now(),
    log: createLog('debug', { write: (line) => void lines.push(line) }),
    ...parts,
  });
  t.teardown(() => reach.close());
  return { reach, doubts, lines };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 2));
}

t.test('an instance that is alone on its store leaves no relayer to others', async (t) => {
  const { reach } = reachOf(t);
  await reach.start();
  t.equal(reach.isShared, false);
  t.equal(await reach.lost('r1', SEEN), true);
  t.equal(reach.isForOthers('r1'), false);
  t.strictSame(reach.unreached, [{ relayerId: 'r1', ...SEEN, isElsewhere: false }]);
  reach.found('r1');
  t.strictSame(reach.unreached, []);
});

t.test('a relayer is unreached only when every running instance has said so', async (t) => {
  const instances = new FakeInstances();
  const { reach: one } = reachOf(t, { instances: instances.join() });
  const { reach: two } = reachOf(t, { instances: instances.join() });
  t.equal(await one.lost('r1', SEEN), true, 'there is no other yet');
  await two.start();
  t.equal(await one.lost('r1', SEEN), false);
  t.equal(one.isForOthers('r1'), true);
  t.equal(two.isForOthers('r1'), false, 'it has not lost it');
  await until(() => two.isDoubted('r1'));
  t.equal(await two.lost('r1', SEEN), true);
  t.equal(two.isForOthers('r1'), false);
  await one.start();
  await until(() => !one.isForOthers('r1'));
  two.found('r1');
  await until(() => one.isForOthers('r1'));
  await two.close();
  await until(() => !one.isForOthers('r1'));
});

t.test('an instance checks what another one lost, and again when the last one that reached it is gone', async (t) => {
  const instances = new FakeInstances();
  let now = 0;
  const { reach: one, doubts } = reachOf(t, { instances: instances.join(), elapsed: () => now, doubtMs: 60_000 });
  const { reach: two, doubts: theirs } = reachOf(t, { instances: instances.join() });
  await one.start();
  await two.lost('r1', SEEN);
  await until(() => doubts.length > 0);
  await new Promise((resolve) => setTimeout(resolve, 30));
  t.strictSame(doubts, ['r1'], 'once, however often it is said');
  now = 60_000;
  await until(() => doubts.length > 1);
  two.found('r1');
  await two.start();
  await until(() => !one.isDoubted('r1'));
  await two.lost('r1', SEEN);
  await until(() => doubts.length > 2);
  t.strictSame(theirs, []);
  await one.close();
  await until(() => theirs.length > 0);
  t.strictSame(theirs, ['r1'], 'nobody is left who may reach it');
});

t.test('a store that does not answer says nothing about who reaches a relayer', async (t) => {
  const instances = new FakeInstances();
  const theirs = instances.join();
  await theirs.say([]);
  let isAway = false;
  const mine = instances.join();
  const { reach, lines } = reachOf(t, {
    instances: {
      ...mine,
      say: (unreached) => (isAway ? Promise.reject(new Error('the database is away')) : mine.say(unreached)),
      leave: () => Promise.reject(new Error('the database is away')),
    },
  });
  await reach.start();
  isAway = true;
  await t.rejects(reach.lost('r1', SEEN), { message: 'the database is away' });
  await until(() => /hints of other instances are not received/.test(lines.join('')));
  t.equal(reach.isForOthers('r1'), true, 'what was heard last stands');
  await reach.close();
  await reach.close();
  await reach.start();
});
