/**
 * Threat: a plugin that kills its process with every call costs the service a process start each time; and a caller
 * who knows how to make it do so could keep the plugin from everybody else. Both must stay bounded.
 */
import t from 'tap';
import { Quarantine } from '../../../../src/plugin-host/quarantine.ts';

const rules = { kills: 3, windowMs: 60_000, firstMs: 1000, longestMs: 4000 };

function setUp() {
  const time = { now: 0 };
  const quarantine = new Quarantine({ now: () => time.now, elapsed: () => time.now }, rules);
  return { time, quarantine, kill: () => quarantine.killed('p', 'overdue: too long') };
}

t.test('the third kill within a minute starts a back-off, which ends by itself', async (t) => {
  const { time, quarantine, kill } = setUp();
  t.equal(kill(), 0);
  t.equal(kill(), 0);
  t.equal(quarantine.backOff('p'), undefined);
  t.equal(kill(), 1000);
  t.same(quarantine.backOff('p'), { reason: 'overdue: too long', leftMs: 1000 });
  t.equal(quarantine.backOff('other'), undefined, 'it is the plugin’s own');
  time.now = 1000;
  t.equal(quarantine.backOff('p'), undefined);
});

t.test('kills far apart are no pattern', async (t) => {
  const { time, kill } = setUp();
  for (let minute = 0; minute < 10; minute++) {
    time.now = minute * 31_000;
    t.equal(kill(), 0);
  }
});

t.test('one kill in probation doubles the back-off, up to the longest and never for good', async (t) => {
  const { time, quarantine, kill } = setUp();
  kill();
  kill();
  const backOffs = [kill()];
  for (let round = 0; round < 4; round++) {
    time.now += backOffs.at(-1) ?? 0;
    t.equal(quarantine.backOff('p'), undefined, 'probation: calls are let in');
    backOffs.push(kill());
  }
  t.same(backOffs, [1000, 2000, 4000, 4000, 4000]);
});

t.test('one call that ends well clears the plugin, but not one of before the back-off', async (t) => {
  const { time, quarantine, kill } = setUp();
  kill();
  kill();
  kill();
  quarantine.endedWell('p');
  t.ok(quarantine.backOff('p'), 'during the back-off nothing changes');
  t.equal(kill(), 0, 'late deaths do not lengthen it');
  time.now = 1000;
  quarantine.endedWell('p');
  t.equal(kill(), 0, 'it starts from nothing');
});

t.test('good calls between kills do not hide the pattern', async (t) => {
  const { quarantine, kill } = setUp();
  kill();
  quarantine.endedWell('p');
  kill();
  quarantine.endedWell('p');
  t.equal(kill(), 1000);
});
