import t from 'tap';
import { relayerBalances } from '../../../../../src/store/migrations/relayer-balances.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('balances get a table', async (t) => {
  const { take } = await beforeStep(t, relayerBalances);
  t.strictSame(await take(), ['relayer_balances']);
});
