/** Threat: jobs that are told of after their call, or charged to nobody. */
import t from 'tap';
import { CallJobs } from '../../../../../sandbox/process/crypto/call-jobs.ts';
import { JobQueue } from '../../../../../sandbox/process/crypto/job-queue.ts';
import { base64 } from '../../../../support/guest-crypto.ts';

const QUESTION = { op: 'pbkdf2', password: base64('p'), salt: '', iterations: 20_000, length: 8, hash: 'sha256' };

function jobs() {
  const told = Promise.withResolvers<[number, string, number]>();
  const seen: number[] = [];
  const made = new CallJobs(new JobQueue(), (id, answer, ms) => {
    seen.push(id);
    told.resolve([id, answer, ms]);
  });
  return { made, told: told.promise, seen };
}

t.test('a job is told with what it took', async (t) => {
  const { made, told } = jobs();
  t.equal(made.runningMs, 0);
  made.start(3, JSON.stringify(QUESTION), 1000);
  t.ok(made.runningMs > 0);
  const [id, answer, ms] = await told;
  t.equal(id, 3);
  t.match(answer, /^=/);
  t.ok(ms > 1);
  t.equal(made.runningMs, 0);
});

t.test('what is refused is told later, and what Node refuses too', async (t) => {
  const long = jobs();
  long.made.start(1, JSON.stringify({ ...QUESTION, iterations: 1e9 }), 1000);
  t.strictSame(long.seen, []);
  t.match(await long.told, [1, /limits\.cpu_ms/, 0]);
  const unknown = jobs();
  unknown.made.start(2, JSON.stringify({ ...QUESTION, hash: 'nope' }), 1000);
  t.match(await unknown.told, [2, /Invalid digest/]);
});

t.test('nothing is told after the end', async (t) => {
  const queue = new JobQueue();
  const told: number[] = [];
  const closed = new CallJobs(queue, (id) => told.push(id));
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
  t.strictSame(told, []);
});
