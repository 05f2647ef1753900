/** The soak of plugin calls: its mix is what it says, and its judgement of memory finds a leak and lets noise be. */
import t from 'tap';
import { callKinds, kindOf } from '../../soak/call-kinds.ts';
import { courseOf } from '../../soak/resident.ts';

const kinds = callKinds(1);

t.test('each hundred calls are the mix', (t) => {
  for (const first of [0, 300, 99_900]) {
    const ids = Array.from({ length: 100 }, (_, index) => kindOf(kinds, first + index).id);
    t.strictSame(
      kinds.map(({ id }) => ids.filter((one) => one === id).length),
      kinds.map(({ share }) => share),
    );
  }
  t.end();
});

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
