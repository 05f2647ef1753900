import t from 'tap';
import { noHints } from '../../../../src/store/hints.ts';

t.test('a process that is alone talks to nobody and hears nobody', async (t) => {
  const stop = noHints.listen(() => t.fail('nobody is there'));
  noHints.send({ topic: 'lane', id: 'lane' });
  stop();
  stop();
});
