import t from 'tap';
import { storeVaried } from '../../../../../../src/engine/lane/attempts/vary.ts';
import { DuplicateRecord } from '../../../../../../src/store/tables/stored-record.ts';

const chain = { vary: (fields: Record<string, unknown>) => ({ gas: Number(fields['gas']) + 1 }) };

t.test('what is new is stored as it is', async (t) => {
  t.equal(await storeVaried(chain, { gas: 5 }, async ({ gas }) => gas), 5);
});

t.test('what was there before is varied until it is new', async (t) => {
  const stored = new Set([5, 6, 7]);
  const store = async ({ gas }: Record<string, unknown>) => {
    if (stored.has(Number(gas))) throw new DuplicateRecord('attempts', String(gas));
    return gas;
  };
  t.equal(await storeVaried(chain, { gas: 5 }, store), 8);
});

t.test('it does not try for ever, and no other failure is taken for that', async (t) => {
  let tries = 0;
  const always = async () => {
    tries += 1;
    throw new DuplicateRecord('attempts', 'same');
  };
  await t.rejects(storeVaried(chain, { gas: 5 }, always), { name: 'DuplicateRecord' });
  t.equal(tries, 33);
  await t.rejects(
    storeVaried(chain, { gas: 5 }, () => Promise.reject(new Error('disk full'))),
    { message: 'disk full' },
  );
});
