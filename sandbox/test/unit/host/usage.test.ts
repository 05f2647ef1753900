import t from 'tap';
import { UsageLedger } from '../../../host/usage.ts';

const MINUTE = 60_000;
const EPOCH = 1_800_000_000_000;

function ledger(startedAt = 0) {
  const time = { elapsed: startedAt };
  const clock = { now: () => EPOCH + time.elapsed, elapsed: () => time.elapsed };
  return { ledger: new UsageLedger(clock), time };
}

const usage = { cpu_ms: 2.5, calls: 3, heap_bytes: 1000, bytes_in: 20, bytes_out: 4 };

t.test('calls are added up by outcome, and the largest heap is kept', async (t) => {
  const { ledger: book } = ledger();
  book.add('p', 'returned', usage);
  book.add('p', 'returned', { ...usage, heap_bytes: 500 });
  book.add('p', 'TIMEOUT', { ...usage, cpu_ms: 10 });
  book.add('other', 'threw', usage);
  const { outcomes, ...hour } = book.lastHour('p');
  t.strictSame(hour, {
    since: EPOCH,
    calls: 3,
    cpuMs: 15,
    capabilityCalls: 9,
    bytesIn: 60,
    bytesOut: 12,
    heapPeakBytes: 1000,
  });
  t.strictSame(
    [...outcomes],
    [
      ['returned', 2],
      ['TIMEOUT', 1],
    ],
  );
  t.match(
    [...book.totals()],
    [
      { pluginId: 'p', outcome: 'returned', calls: 2, cpuMs: 5 },
      { pluginId: 'p', outcome: 'TIMEOUT', calls: 1, cpuMs: 10 },
      { pluginId: 'other', outcome: 'threw', calls: 1 },
    ],
  );
  t.match(book.lastHour('never called'), { calls: 0, heapPeakBytes: 0, since: EPOCH });
});

t.test('what is older than an hour is forgotten, the sums since the start are not', async (t) => {
  const { ledger: book, time } = ledger(10);
  for (let minute = 0; minute < 200; minute += 1) {
    time.elapsed = minute * MINUTE + 10;
    book.add('p', 'returned', { ...usage, heap_bytes: 1000 - minute });
  }
  const hour = book.lastHour('p');
  t.match(hour, { calls: 60, cpuMs: 150, heapPeakBytes: 860 });
  t.equal(hour.since, EPOCH + 140 * MINUTE, 'it says from when on it counts');
  t.match([...book.totals()], [{ calls: 200 }]);
  time.elapsed += 30 * MINUTE;
  t.equal(book.lastHour('p').calls, 30);
  time.elapsed += 30 * MINUTE;
  t.match(book.lastHour('p'), { calls: 0, heapPeakBytes: 0 });
});
