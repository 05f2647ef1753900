import t from 'tap';
import { pluginSettings } from '../../../../../src/store/migrations/plugin-settings.ts';
import { beforeStep } from '../../../../support/migration-stage.ts';

t.test('what clients made of plugins gets a table', async (t) => {
  const { take } = await beforeStep(t, pluginSettings);
  t.strictSame(await take(), ['plugin_settings']);
});
