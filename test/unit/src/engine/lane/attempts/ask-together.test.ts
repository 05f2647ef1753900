import t from 'tap';
import { askTogether } from '../../../../../../src/engine/lane/attempts/ask-together.ts';

/** Asks for items on an account with this balance. Each item takes its own amount. An item of 0 is never ready. */
function ask(balance: bigint, items: readonly bigint[], committed = 0n) {
  const asked: [bigint, bigint][] = [];
  const answers = askTogether(items, committed, {
    ask: async (item, taken) => {
      asked.push([item, taken]);
      return item > 0n && taken + item <= balance;
    },
    takes: (isReady, item) => (isReady ? item : undefined),
  });
  return answers.then((given) => ({ given, asked }));
}

t.test(
  'items that the balance bears together are asked for once each, and the last one again on top of the others',
  async (t) => {
    const { given, asked } = await ask(10n, [2n, 3n, 4n], 1n);
    t.strictSame(given, [true, true, true]);
    t.strictSame(asked.slice(3), [[4n, 6n]]);
  },
);

t.test(
  'items that it does not bear together are asked for in order, and smaller ones may pass larger ones',
  async (t) => {
    t.strictSame((await ask(10n, [6n, 6n, 4n])).given, [true, false, true]);
  },
);

t.test('the last item that is ready alone is asked for on top of the others', async (t) => {
  const { given, asked } = await ask(10n, [6n, 6n, 0n]);
  t.strictSame(given, [true, false, false]);
  t.strictSame(asked[3], [6n, 6n]);
});

t.test('a single ready item is asked for once, and an empty list asks nothing', async (t) => {
  t.equal((await ask(10n, [1n])).asked.length, 1);
  t.equal((await ask(10n, [0n, 1n])).asked.length, 2);
  t.strictSame((await ask(10n, [])).given, []);
});
