/** Threat: memory or time that is used up while nobody looks. */
import t from 'tap';
import { ChildSampler, ResidentMemoryReader } from '../../../driver/child-sampler.ts';

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

t.test('a busy child is looked at often, until its watchdog is stopped', async (t) => {
  const looks: number[] = [];
  const enough = Promise.withResolvers<void>();
  const watchdog = new ChildSampler(
    {
      look: (now, rssBytes) => {
        looks.push(now);
        t.ok(rssBytes > 0);
        if (looks.length === 4) {
          watchdog.stop();
          enough.resolve();
        }
      },
      isBusy: () => true,
    },
    new ResidentMemoryReader(() => process.pid),
  );
  watchdog.wake();
  watchdog.wake();
  await enough.promise;
  watchdog.stop();
  watchdog.wake();
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.equal(looks.length, 4);
});
