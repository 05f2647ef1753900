import t from 'tap';
import { ProcessorTime } from '../../../../../sandbox/driver/processor/processor-time.ts';

t.test('tells the processor time of a process, all its threads together', async (t) => {
  const own = new ProcessorTime(() => process.pid);
  t.teardown(() => own.close());
  const first = own.read();
  if (process.platform !== 'linux') return void t.equal(first, 0, 'this system does not tell');
  const used = process.cpuUsage();
  t.ok(Math.abs(first - (used.user + used.system) / 1000) < 1000, `${first} ms`);
  const until = process.cpuUsage().user + 100_000;
  while (process.cpuUsage().user < until);
  t.ok(own.read() >= first + 50);
});

t.test('a process that is not there yet, or any more, took none', async (t) => {
  const none = new ProcessorTime(() => undefined);
  t.equal(none.read(), 0);
  const gone = new ProcessorTime(() => 2 ** 30);
  t.equal(gone.read(), 0);
  none.close();
  gone.close();
  gone.close();
});
