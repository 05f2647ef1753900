import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { allowTimerSlack } from '../../../../../sandbox/driver/processor/timer-slack.ts';

t.test('what is started from here on may be woken a millisecond late', async (t) => {
  t.doesNotThrow(allowTimerSlack);
  if (process.platform !== 'linux') return;
  const started = execFileSync('/bin/cat', ['/proc/self/timerslack_ns'], { encoding: 'utf8' });
  t.equal(started.trim(), '1000000');
  t.equal(readFileSync('/proc/self/timerslack_ns', 'utf8').trim(), '1000000');
});
