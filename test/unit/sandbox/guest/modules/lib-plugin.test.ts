import t from 'tap';
import * as library from '../../../../../sandbox/guest/modules/lib-plugin.ts';
import * as sdk from '../../../../../sandbox/guest/modules/relayer-sdk.ts';
import { RUN_PLUGIN } from '../../../../../sandbox/language-names.ts';

t.test('has all of the SDK, and runPlugin names the function to run while the module loads', (t) => {
  t.strictSame(Object.keys(library).sort(), [...Object.keys(sdk), 'runPlugin'].sort());
  t.throws(() => library.runPlugin('main' as never), /needs a function/);
  const main = () => 1;
  t.throws(() => library.runPlugin(main), /only while the module loads/);
  const world = globalThis as { [RUN_PLUGIN]?: unknown };
  world[RUN_PLUGIN] = undefined;
  t.teardown(() => delete world[RUN_PLUGIN]);
  library.runPlugin(main);
  t.equal(world[RUN_PLUGIN], main);
  t.end();
});
