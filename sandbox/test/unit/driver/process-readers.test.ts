/** Threat: memory or time that is used up while nobody looks. */
import t from 'tap';
import { ProcessCpuTimeReader, ResidentMemoryReader } from '../../../driver/process-readers.ts';

t.test('the memory of a process is read again and again', async (t) => {
  const memory = new ResidentMemoryReader(() => process.pid);
  const before = memory.read();
  t.ok(before > 10e6 && before < 4e9, `${before} bytes`);
  const more = Buffer.alloc(64e6, 1);
  t.ok(memory.read() > before + 32e6, 'it has grown');
  t.equal(more.length, 64e6);
  memory.close();
  memory.close();
});

t.test('a process that is unknown or gone has no memory', async (t) => {
  t.equal(new ResidentMemoryReader(() => undefined).read(), 0);
  t.equal(new ResidentMemoryReader(() => 2 ** 30).read(), 0);
});

t.test('tells the processor time of a process, all its threads together', async (t) => {
  const own = new ProcessCpuTimeReader(() => process.pid);
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
  const none = new ProcessCpuTimeReader(() => undefined);
  t.equal(none.read(), 0);
  const gone = new ProcessCpuTimeReader(() => 2 ** 30);
  t.equal(gone.read(), 0);
  none.close();
  gone.close();
  gone.close();
});
