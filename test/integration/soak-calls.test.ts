/**
 * The soak of plugin calls: its mix of calls is as described, and its memory check finds a leak and tolerates noise.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { Asking, warmUp } from '../load/soak/calls/asking.ts';
import { callKinds } from '../load/soak/calls/call-kinds.ts';
import { courseOf } from '../load/soak/calls/resident.ts';
import { courseAtRest, type Rest } from '../load/soak/calls/rests.ts';
import type { RunningService } from '../support/service.ts';

const kinds = callKinds(1);

t.test('an answer is right for its own call only', (t) => {
  const answer = { status: 200, body: { success: true, data: 7, error: null } };
  for (const { id, isRight } of kinds) {
    const returns = !['throws', 'times-out'].includes(id);
    t.equal(isRight(answer, 7), returns, id);
    t.equal(isRight(answer, 8), false, id);
    t.equal(isRight({ ...answer, status: 503 }, 7), false, id);
  }
  const details = { code: 'NO', details: { n: 7 } };
  const thrown = { status: 418, body: { success: false, data: details, error: 'no 7' } };
  t.equal(kinds.find(({ id }) => id === 'throws')?.isRight(thrown, 7), true);
  const late = { status: 504, body: { success: false, data: { code: 'TIMEOUT', details: {} }, error: '' } };
  t.equal(kinds.find(({ id }) => id === 'times-out')?.isRight(late, 7), true);
  t.end();
});

t.test('what grows with the calls shows, what goes up and down does not, and the start does not count', (t) => {
  const points = (size: (x: number) => number) => Array.from({ length: 101 }, (_, x) => ({ x: x * 1000, y: size(x) }));
  const leak = courseOf(
    points((x) => 200 + x),
    100_000,
  );
  t.equal(Math.round(leak.growth), 50);
  t.equal(Math.round(leak.slope), 10);
  const noise = courseOf(
    points((x) => 200 + (x % 2) * 40),
    100_000,
  );
  t.equal(Math.round(noise.growth), 0);
  const start = courseOf(
    points((x) => Math.min(200, x * 10)),
    100_000,
  );
  t.match(start, { growth: 0, median: 200, looks: 51 });
  t.end();
});

/**
 * The rests after every 20,000 of 100,000 calls. The sizes of the processes, in MiB, are functions of the rest's
 * number.
 */
function restsOf(sizes: Record<string, (rest: number) => number>): Rest[] {
  return [1, 2, 3, 4, 5].map((rest) => ({
    calls: rest * 20_000,
    held: new Map(Object.entries(sizes).map(([id, size]) => [id, size(rest)])),
  }));
}

t.test('one process that grows a little with each call is found among others that do not', (t) => {
  const { faults, slope } = courseAtRest(restsOf({ a: (rest) => 60 + rest * 4, b: () => 100, c: () => 70 }));
  t.strictSame(faults, ['the process of a grew by 12.0 MiB over 60000 calls']);
  t.equal(slope, 2);
  t.end();
});

t.test('every call of the mix is made once, and a wrong answer and a missing one are faults', async (t) => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += String(chunk);
    });
    request.on('end', () => {
      const { n } = JSON.parse(text) as { n: number };
      seen.push(`${request.url} ${n}`);
      if (n === 4 && request.url?.includes('trivial')) return response.destroy();
      return response.end(JSON.stringify({ success: true, data: n === 3 ? 'another' : n, error: null }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const only = kinds.filter(({ id }) => id === 'trivial').map((kind) => ({ ...kind, share: 100 }));
  const asking = new Asking({ url, apiKey: 'k' } as RunningService, only);
  let over = 0;
  await asking.mix(2, 6, 3, () => {
    over += 1;
  });
  t.strictSame(
    seen.toSorted(),
    [2, 3, 4, 5].map((n) => `/plugins/trivial/call ${n}`),
  );
  t.equal(over, 4);
  t.strictSame([asking.asked.get('trivial'), asking.answered.get('trivial')], [4, 3]);
  t.equal(asking.faults.length, 2);
  t.match(asking.faults.join('\n'), /call 3 of trivial: 200 .*another/);
  t.match(asking.faults.join('\n'), /call 4 of trivial has no answer/);
  await asking.round(7);
  t.equal(seen.at(-1), '/plugins/trivial/call 7');
  seen.length = 0;
  await warmUp(
    { url, apiKey: 'k' } as RunningService,
    kinds.filter(({ id }) => id === 'alone'),
    2,
    5,
  );
  t.ok(seen.length >= 35 && seen.every((line) => line.startsWith('/plugins/alone/')), 'its share times five');
  t.strictSame([asking.asked.get('trivial'), asking.faults.length], [5, 2], 'and none of it counts');
});
