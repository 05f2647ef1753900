import t from 'tap';
import { notify } from '../../../../../src/store/migrations/notify.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('notifications and their events get their tables', async (t) => {
  const { take } = await beforeStep(t, notify);
  t.strictSame(await take(), ['notifications', 'outbox']);
});
