/** Threat: a plugin's capability calls occupy the main loop. */
import t from 'tap';
import { FairTaskStarter } from '../../../host/fair-start.ts';

/** Waits for one turn of the loop. */
const turn = () => new Promise((resolve) => setTimeout(resolve));

t.test('few tasks begin at once', async (t) => {
  const fairStart = new FairTaskStarter({ elapsed: () => 0 });
  const begun: number[] = [];
  for (let task = 0; task < 100; task++) fairStart.push(1, () => begun.push(task));
  t.equal(begun.length, 100);
});

t.test('a flood is spread over many turns, in which others have their share', async (t) => {
  let now = 0;
  const fairStart = new FairTaskStarter({ elapsed: () => now });
  const begun: string[] = [];
  const task = (name: string) => () => {
    // Work that a task does in its microtasks counts too.
    queueMicrotask(() => {
      begun.push(name);
      now += 3;
    });
  };
  for (let call = 0; call < 50; call++) fairStart.push(1, task(`flood ${call}`));
  now += 5;
  fairStart.push(1, task('flood 50'));
  fairStart.push(2, task('other'));
  await turn();
  t.ok(begun.length < 60, 'not all at once');
  for (let tries = 0; begun.length < 52 && tries < 100; tries++) await turn();
  t.equal(begun.length, 52);
  t.same(
    begun.filter((name) => name !== 'other'),
    Array.from({ length: 51 }, (_, call) => `flood ${call}`),
    'each owner’s in their order',
  );
});

t.test('no turn is longer than its time and one task, and owners alternate', async (t) => {
  let now = 0;
  const fairStart = new FairTaskStarter({ elapsed: () => now });
  const begun: number[] = [];
  fairStart.push(9, () => {
    now += 100;
  });
  for (let call = 0; call < 10; call++)
    for (const owner of [1, 1, 1, 2]) fairStart.push(owner, () => void begun.push(owner));
  t.same(begun, [], 'the first took all of this turn');
  const before = begun.length;
  await turn();
  await turn();
  t.ok(begun.length > before);
  t.same(begun.slice(0, 8), [1, 2, 1, 2, 1, 2, 1, 2]);
  for (let tries = 0; begun.length < 40 && tries < 100; tries++) await turn();
  t.equal(begun.length, 40);
});
