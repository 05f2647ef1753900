import t from 'tap';
import { runTyped } from '../../../../support/command.ts';

t.test(
  'what it does is told, and what it is typed with is checked; all else is in test/slow/dev.test.ts',
  async (t) => {
    const told = await runTyped(t.testdir({}), ['dev', '--help']);
    t.match(told.said, /local-1, on anvil[^]*temporary folder/);
    const wrong = await runTyped(t.testdir({}), ['dev', 'x']);
    t.match(wrong, { code: 2, complained: /It is: dev \[--port <port>\]/ });
  },
);
