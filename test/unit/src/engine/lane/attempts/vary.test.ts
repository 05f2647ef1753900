import t from 'tap';
import { storeVaried } from '../../../../../../src/engine/lane/attempts/vary.ts';
import { DuplicateRecord } from '../../../../../../src/store/tables/stored-record.ts';

const chain = { vary: (fields: Record<string, unknown>) => ({ gas: Number(fields['gas']) + 1 }) };

t.test('bytes that are new are stored unchanged', async (t) => {
  t.equal(await storeVaried(chain, { gas: 5 }, async ({ gas }) => gas), 5);
});

t.test('bytes that were stored before are varied until they are new', async (t) => {
  const stored = new Set([5, 6, 7]);
  const store = async ({ gas }: Record<string, unknown>) => {
    if (stored.has(Number(gas))) throw new DuplicateRecord('attempts', String(gas));
    return gas;
  };
  t.equal(await storeVaried(chain, { gas: 5 }, store), 8);
});

t.test('varying stops after a bounded number of tries, and other failures are passed on', async (t) => {
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
