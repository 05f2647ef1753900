import t from 'tap';
import { Gathering } from '../../../../../src/store/postgres/postgres-batches.ts';

/** A server that answers each message when it is told to. */
function open(limits?: { underWay: number; waitMs: number }) {
  const messages: string[][] = [];
  const answers: (() => void)[] = [];
  const gathering = new Gathering<string, string>((waiting) => {
    messages.push(waiting.map(({ asked }) => asked));
    const { promise, resolve } = Promise.withResolvers<void>();
    answers.push(() => {
      for (const one of waiting) one.resolve(`answer to ${one.asked}`);
      resolve();
    });
    return promise;
  }, limits);
  return { gathering, messages, answer: () => answers.shift()?.() };
}

/** All that has been asked for is sent or waits. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Longer than any test lasts. */
const NEVER_MS = 2 ** 31 - 1;

t.test('what is asked for at once goes together, and without limits nothing waits', async (t) => {
  const { gathering, messages, answer } = open();
  const both = Promise.all([gathering.add('a'), Promise.resolve().then(() => gathering.add('b'))]);
  await turn();
  void gathering.add('c');
  await turn();
  t.strictSame(messages, [['a', 'b'], ['c']]);
  answer();
  t.strictSame(await both, ['answer to a', 'answer to b']);
});

t.test('what is asked for alone never waits; with others under way it goes when one has ended', async (t) => {
  const { gathering, messages, answer } = open({ underWay: 2, waitMs: NEVER_MS });
  const first = gathering.add('a');
  await turn();
  void gathering.add('b');
  await turn();
  t.strictSame(messages, [['a'], ['b']]);
  void gathering.add('c');
  await turn();
  void gathering.add('d');
  await turn();
  t.equal(messages.length, 2);
  answer();
  t.equal(await first, 'answer to a');
  await turn();
  t.strictSame(messages.slice(2), [['c', 'd']]);
  answer();
  await turn();
  const last = gathering.add('e');
  await turn();
  t.strictSame(messages.slice(3), [['e']], 'one that has ended makes room');
  answer();
  answer();
  t.equal(await last, 'answer to e');
});

t.test('nobody waits for ever for others', async (t) => {
  const { gathering, messages, answer } = open({ underWay: 1, waitMs: 1 });
  void gathering.add('slow');
  await turn();
  const second = gathering.add('quick');
  while (messages.length === 1) await turn();
  t.strictSame(messages, [['slow'], ['quick']]);
  answer();
  answer();
  t.equal(await second, 'answer to quick');
});
