import t from 'tap';
import { noHints } from '../../../../src/store/hints.ts';

t.test('a process that is alone talks to nobody and hears nobody', async (t) => {
  let heard = 0;
  const stop = noHints.listen(() => {
    heard += 1;
  });
  noHints.send({ topic: 'lane', id: 'lane' });
  stop();
  stop();
  t.equal(heard, 0);
});
