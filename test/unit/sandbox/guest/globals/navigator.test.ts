import t from 'tap';
import { createNavigator } from '../../../../../sandbox/guest/globals/install.ts';

t.test('it tells nothing of the machine', (t) => {
  const { navigator, Navigator } = createNavigator();
  t.strictSame(
    [navigator.userAgent, navigator.hardwareConcurrency, navigator.language, navigator.languages, navigator.platform],
    ['Isolayer', 1, 'en-US', ['en-US'], ''],
  );
  t.ok(navigator.onLine);
  t.equal(String(navigator), '[object Navigator]');
  t.throws(() => new Navigator(), TypeError);
  t.end();
});
