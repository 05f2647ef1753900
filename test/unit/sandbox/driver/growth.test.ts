/** Threat: a call that fills its process, and lets another one be blamed that happened to run last. */
import t from 'tap';
import { Growth } from '../../../../sandbox/driver/growth.ts';
import { NO_CALL } from '../../../../sandbox/driver/pulse.ts';

const MIB = 1_048_576;

t.test('what is new is divided by the time that each was inside', async (t) => {
  const growth = new Growth();
  growth.measured(50 * MIB);
  growth.ran(1, 20);
  growth.ran(2, 1);
  growth.measured(150 * MIB);
  t.equal(growth.most(50 * MIB), 1);
  growth.ran(2, 5);
  growth.measured(160 * MIB);
  t.equal(growth.most(50 * MIB), 1, 'who ran last has taken little');
  growth.ended(1);
  t.equal(growth.most(50 * MIB), NO_CALL, 'who has gone is not there to be blamed, nor is anybody in its place');
  t.equal(growth.most(5 * MIB), 2);
});

t.test('memory that comes while nobody runs, and memory that goes, is nobody’s', async (t) => {
  const growth = new Growth();
  growth.measured(500 * MIB);
  t.equal(growth.most(1), NO_CALL);
  growth.ran(3, 0);
  growth.measured(400 * MIB);
  growth.measured(450 * MIB);
  t.equal(growth.most(1), NO_CALL, 'it ran before the memory came');
  growth.ran(3, 0);
  growth.measured(451 * MIB);
  t.equal(growth.most(1), 3, 'however short it was');
  growth.ran(NO_CALL, 1);
  growth.measured(900 * MIB);
  t.equal(growth.most(1), 3, 'a module is no call');
});
