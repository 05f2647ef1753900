import vm from 'node:vm';
import t from 'tap';
import { AT_HAND, findLanguageNames, LANGUAGE_NAMES } from '../../language-names.ts';

t.test('all names of the language are there, but for those that a guest does not have', (t) => {
  const own = Object.getOwnPropertyNames(vm.runInNewContext('globalThis'));
  t.strictSame(
    // Some test of this process may have asked V8 for its collector.
    own.filter((name) => LANGUAGE_NAMES[name] === undefined && name !== 'gc').sort(),
    [
      ...['Atomics', 'FinalizationRegistry', 'Infinity', 'NaN', 'SharedArrayBuffer', 'WeakRef', 'WebAssembly'],
      ...['console', 'undefined'],
    ],
    'and those that nobody can change',
  );
  t.end();
});

t.test('a name that code mentions is found wherever it stands', (t) => {
  t.strictSame(findLanguageNames('const seen = new Map(); Math.floor(1)'), ['Map', 'Math']);
  t.strictSame(findLanguageNames('x.toTemporalInstant()'), ['Temporal']);
  t.strictSame(findLanguageNames('Object.keys({})'), [], 'of those that are not at hand anyway');
  t.equal(LANGUAGE_NAMES['Object'], AT_HAND);
  t.end();
});
