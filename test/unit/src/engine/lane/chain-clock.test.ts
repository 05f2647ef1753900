import t from 'tap';
import { ChainClock } from '../../../../../src/engine/lane/lane-memory.ts';
import { createLog } from '../../../../../src/observability/log.ts';

t.test('the chain’s time is asked for once in a while, even when nobody answers', async (t) => {
  let [now, asked] = [0, 0];
  const clock = new ChainClock();
  const options = { elapsed: () => now, keepMs: 100, log: createLog('silent') };
  const read = (answer: () => Promise<{ height: bigint; at: number }>) =>
    clock.at(() => {
      asked += 1;
      return answer();
    }, options);
  const tells = async () => ({ height: 1n, at: 5_000 });
  const fails = () => Promise.reject(new Error('no node'));

  t.equal(await read(tells), 5_000);
  now = 99;
  t.equal(await read(fails), 5_000);
  t.equal(asked, 1);
  now = 100;
  t.equal(await read(fails), undefined);
  now = 199;
  t.equal(await read(tells), undefined);
  t.equal(asked, 2);
  now = 200;
  t.equal(await read(tells), 5_000);
});
