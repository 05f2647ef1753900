/** Threat: jobs that are reported after their call, charged to nobody, or so many that other calls never get a turn. */
import t from 'tap';
import { CallJobs, CryptoJobQueue } from '../../../../process/crypto/jobs.ts';
import { SeededChance } from '../../../../process/crypto/seeded.ts';
import { base64 } from '../../../support/guest-crypto.ts';

const QUESTION = { op: 'pbkdf2', password: base64('p'), salt: '', iterations: 20_000, length: 8, hash: 'sha256' };

function jobs() {
  const done = Promise.withResolvers<[number, string, number]>();
  const seen: number[] = [];
  const made = new CallJobs(new CryptoJobQueue(), (id, answer, ms) => {
    seen.push(id);
    done.resolve([id, answer, ms]);
  });
  return { made, done: done.promise, seen };
}

t.test('a job is reported with the time it took', async (t) => {
  const { made, done } = jobs();
  t.equal(made.runningMs, 0);
  made.start(3, JSON.stringify(QUESTION), 1000);
  t.ok(made.runningMs > 0);
  const [id, answer, ms] = await done;
  t.equal(id, 3);
  t.match(answer, /^=/);
  t.ok(ms > 1);
  t.equal(made.runningMs, 0);
});

t.test('a refusal is reported later, and so is Node’s', async (t) => {
  const long = jobs();
  long.made.start(1, JSON.stringify({ ...QUESTION, iterations: 1e9 }), 1000);
  t.strictSame(long.seen, []);
  t.match(await long.done, [1, /limits\.cpu_ms/, 0]);
  const unknown = jobs();
  unknown.made.start(2, JSON.stringify({ ...QUESTION, hash: 'nope' }), 1000);
  t.match(await unknown.done, [2, /Invalid digest/]);
});

t.test('pairs of keys of a durable call are reported later as well, whatever their kind', async (t) => {
  for (const kind of [{ kind: 'ec', curve: 'prime256v1' }, { kind: 'ed25519' }, { kind: 'rsa', bits: 512 }]) {
    const { made, done, seen } = jobs();
    made.start(1, JSON.stringify({ op: 'key-pair', ...kind }), 1000, new SeededChance('cd'.repeat(32), 'test'));
    t.strictSame(seen, [], 'not within the step that asks');
    t.match(await done, [1, /^:\[/]);
  }
  const unknown = jobs();
  const question = JSON.stringify({ op: 'key-pair', kind: 'ec', curve: 'brainpoolP256r1' });
  unknown.made.start(2, question, 1000, new SeededChance('cd'.repeat(32), 'test'));
  t.match(await unknown.done, [2, /Use one of prime256v1/]);
});

t.test('nothing is reported after the end of the call', async (t) => {
  const queue = new CryptoJobQueue();
  const done: number[] = [];
  const closed = new CallJobs(queue, (id) => done.push(id));
  closed.start(1, JSON.stringify(QUESTION), 1000);
  closed.start(2, JSON.stringify(QUESTION), 1000);
  closed.close();
  closed.close();
  const { promise, resolve } = Promise.withResolvers<void>();
  const next = new CallJobs(queue, () => resolve());
  for (const id of [1, 2, 3]) next.start(id, JSON.stringify({ ...QUESTION, iterations: 40_000 }), 1000);
  await promise;
  // What ran at the end runs on, for as long as it takes.
  while (closed.runningMs > 0) await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(done, []);
});

function queue() {
  const jobs = new CryptoJobQueue();
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
