import t from 'tap';
import { defineLazily } from '../../../../sandbox/guest/lazy-property.ts';

t.test('who inherits from the object writes a property of its own', (t) => {
  const target: Record<string, unknown> = {};
  defineLazily(target, ['name'], () => 'made');
  const heir = Object.create(target) as Record<string, unknown>;
  heir['name'] = 'own';
  t.strictSame([heir['name'], target['name']], ['own', 'made']);
  t.ok(Object.getOwnPropertyDescriptor(heir, 'name')?.enumerable, 'as an assignment makes it');
  const other = Object.create(target) as Record<string, unknown>;
  t.equal(other['name'], 'made');
  t.notOk(Object.hasOwn(other, 'name'));
  t.end();
});

t.test('a name is an ordinary property from the first read on, or what was written', (t) => {
  let made = 0;
  const target: Record<string, unknown> = {};
  defineLazily(target, ['read', 'written', 'deleted'], (name, index) => {
    made += 1;
    return `${name} ${index + 1}`;
  });
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

t.test('on an object that is frozen meanwhile a name is made once, and stays', (t) => {
  let made = 0;
  const target: Record<string, unknown> = {};
  defineLazily(target, ['name'], () => {
    made += 1;
    return {};
  });
  Object.freeze(target);
  t.equal(target['name'], target['name']);
  t.equal(made, 1);
  t.throws(
    () => {
      target['name'] = 1;
    },
    { name: 'TypeError', message: /read only property 'name'/ },
  );
  t.end();
});
