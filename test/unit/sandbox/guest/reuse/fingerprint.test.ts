import t from 'tap';
import { Fingerprint } from '../../../../../sandbox/guest/reuse/reused-globals.ts';

const patterns = () => {
  const symbol = Symbol.for('fingerprint');
  return {
    exec: () => 1,
    data: Number.POSITIVE_INFINITY,
    [symbol]: 1,
    get flags() {
      return '';
    },
  };
};

t.test('an object is as it was, also after something was changed and put back', (t) => {
  const object = patterns();
  const fingerprint = new Fingerprint(object);
  t.ok(fingerprint.matches());
  const { exec } = object;
  object.exec = () => 2;
  t.notOk(fingerprint.matches());
  object.exec = exec;
  t.ok(fingerprint.matches());
  t.ok(new Fingerprint({}).matches());
  t.ok(new Fingerprint(Object.freeze({ a: 1 })).matches(), 'one that was frozen before');
  t.end();
});

t.test('every way to change an object shows', (t) => {
  const changes: Record<string, (object: Record<string | symbol, unknown>) => void> = {
    'another property': (object) => Object.assign(object, { planted: 1 }),
    'one that is not listed': (object) => Object.defineProperty(object, 'planted', { value: 1 }),
    'one with a symbol': (object) => Object.assign(object, { [Symbol('planted')]: 1 }),
    'another value': (object) => Object.assign(object, { exec: 1 }),
    'another value under a symbol': (object) => Object.assign(object, { [Symbol.for('fingerprint')]: 2 }),
    'a getter for a value': (object) => Object.defineProperty(object, 'data', { get: () => Number.POSITIVE_INFINITY }),
    'a value for a getter': (object) => Object.defineProperty(object, 'flags', { value: '' }),
    'another getter': (object) => Object.defineProperty(object, 'flags', { get: () => '' }),
    'a setter': (object) => Object.defineProperty(object, 'flags', { set: () => {} }),
    'one that cannot be written': (object) => Object.defineProperty(object, 'exec', { writable: false }),
    'one that is not listed any more': (object) => Object.defineProperty(object, 'exec', { enumerable: false }),
    'one that is gone': (object) => Reflect.deleteProperty(object, 'exec'),
    'another prototype': (object) => Object.setPrototypeOf(object, {}),
    'no further property': (object) => Object.preventExtensions(object),
    'one for another': (object) => {
      Reflect.deleteProperty(object, 'exec');
      object['planted'] = 1;
    },
  };
  for (const [what, change] of Object.entries(changes)) {
    const object = patterns();
    const fingerprint = new Fingerprint(object);
    change(object);
    t.notOk(fingerprint.matches(), what);
  }
  t.end();
});
