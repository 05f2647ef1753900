import t from 'tap';
import { defineLazily, LazyParts } from '../../../../sandbox/guest/lazy-parts.ts';
import { partWorld } from '../../../support/guest-web.ts';

t.test('a part is loaded once, by whoever asks first', (t) => {
  const loads: string[] = [];
  const world = partWorld();
  const parts = new LazyParts((name) => {
    loads.push(name);
    return (given) => ({ given });
  }, world);
  t.equal(parts.peek('web'), undefined);
  t.strictSame([parts.get('web')['given'] === world, parts.get('web') === parts.peek('web')], [true, true]);
  t.strictSame(loads, ['web']);
  t.end();
});

t.test('a name is an ordinary property from the first read on, or what was written', (t) => {
  let made = 0;
  const target: Record<string, unknown> = {};
  for (const name of ['read', 'written', 'deleted']) defineLazily(target, name, () => `${name} ${++made}`);
  t.equal(target['read'], 'read 1');
  t.strictSame(Object.getOwnPropertyDescriptor(target, 'read'), {
    value: 'read 1',
    writable: true,
    enumerable: false,
    configurable: true,
  });
  target['written'] = 'mine';
  delete target['deleted'];
  t.strictSame([target['written'], 'deleted' in target, made], ['mine', false, 1]);
  t.end();
});
