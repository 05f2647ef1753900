import t from 'tap';
import * as library from '../../../../../sandbox/guest/modules/lib-plugin.ts';
import * as sdk from '../../../../../sandbox/guest/modules/relayer-sdk.ts';

t.test('has all of the SDK, and says what there is instead of runPlugin', (t) => {
  t.strictSame(Object.keys(library).sort(), [...Object.keys(sdk), 'runPlugin'].sort());
  t.throws(() => library.runPlugin(), /export the function as handler/);
  t.end();
});
