/** Threat: one call that asks for so much that the others never get their turn. */
import t from 'tap';
import { JobQueue } from '../../../../../sandbox/process/crypto/job-queue.ts';

function queue() {
  const jobs = new JobQueue();
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (owner: object, name: string, memoryBytes = 0) =>
    jobs.add(owner, {
      memoryBytes,
      start: (done) => {
        begun.push(name);
        ends.set(name, done);
      },
    });
  return { jobs, begun, add, end: (name: string) => ends.get(name)?.() };
}

t.test('each owner has one at a time, and they take turns', (t) => {
  const { begun, add, end, jobs } = queue();
  const [greedy, modest, third] = [{}, {}, {}];
  for (let job = 0; job < 50; job++) add(greedy, `g${job}`);
  add(modest, 'm0');
  add(third, 't0');
  t.strictSame(begun, ['g0', 'm0'], 'two run');
  end('g0');
  t.strictSame(begun, ['g0', 'm0', 't0'], 'who has waited comes before who had a turn');
  end('m0');
  t.strictSame(begun.slice(3), ['g1']);
  jobs.drop(greedy);
  jobs.drop(greedy);
  end('g1');
  t.equal(begun.length, 4, 'what was dropped never begins');
  t.end();
});

t.test('and together no more memory than there is', (t) => {
  const { begun, add, end } = queue();
  const large = 150 * 1_048_576;
  add({}, 'a', large);
  add({}, 'b', large);
  add({}, 'c', 1000);
  t.strictSame(begun, ['a', 'c']);
  end('c');
  end('a');
  t.strictSame(begun, ['a', 'c', 'b']);
  t.end();
});
