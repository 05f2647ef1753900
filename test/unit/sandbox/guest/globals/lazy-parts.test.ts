import t from 'tap';
import { LazyParts } from '../../../../../sandbox/guest/globals/lazy-parts.ts';
import { partWorld } from '../../../../support/guest-web.ts';

t.test('a part is loaded once, by whoever asks first', (t) => {
  const loads: string[] = [];
  const world = partWorld();
  const parts = new LazyParts(
    (name) => {
      loads.push(name);
      return (given) => ({ given });
    },
    () => world,
  );
  t.equal(parts.peek('web'), undefined);
  t.strictSame([parts.get('web')['given'] === world, parts.get('web') === parts.peek('web')], [true, true]);
  t.strictSame(loads, ['web']);
  t.end();
});
