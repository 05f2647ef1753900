import t from 'tap';
import { Pace } from '../../../../sandbox/process/pace.ts';

t.test('a plugin is quick once it has been quick for a while', async (t) => {
  const pace = new Pace();
  t.equal(pace.quick, false, 'nothing is known of it');
  let stretches = 0;
  for (; !pace.quick && stretches < 1000; stretches += 1) pace.took(0.05);
  t.ok(stretches > 10 && stretches < 100, `${stretches}`);
  pace.took(3);
  t.equal(pace.quick, false);
  for (let left = 5; left > 0; left -= 1) pace.took(0.05);
  t.equal(pace.quick, false, 'one slow stretch is remembered');
  pace.took(60_000);
  for (let left = 100; left > 0; left -= 1) pace.took(0.05);
  t.equal(pace.quick, true, 'but not for ever');
});
