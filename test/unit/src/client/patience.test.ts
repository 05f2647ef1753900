import t from 'tap';
import { ApiError } from '../../../../src/client/client.ts';
import { patiently } from '../../../../src/client/patience.ts';

t.test('it asks again while there were too many requests, and gives up at last', async (t) => {
  let asked = 0;
  const ask = (refusals: number, status: number) => {
    asked = 0;
    return patiently(async () => {
      asked += 1;
      if (asked <= refusals) throw new ApiError(status, {});
      return 'answer';
    }, 0);
  };
  t.equal(await ask(3, 429), 'answer');
  t.equal(asked, 4);
  await t.rejects(ask(1, 503), { message: 'The server answered with status 503' });
  await t.rejects(ask(100, 429), { message: 'The server answered with status 429' });
  t.equal(asked, 30);
});
