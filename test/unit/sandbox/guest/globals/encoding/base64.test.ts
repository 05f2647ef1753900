import t from 'tap';
import { atob, btoa } from '../../../../../../sandbox/guest/globals/encoding/bytes.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';

t.test('agrees with the engine', (t) => {
  const bytes = fc.uint8Array({ maxLength: 50 }).map((array) => String.fromCharCode(...array));
  fc.assert(
    fc.property(bytes, (text) => btoa(text) === globalThis.btoa(text) && atob(btoa(text)) === text),
    { numRuns: runsOf(300) },
  );
  for (const text of ['', 'YQ==', 'YQ', ' Y Q = = ', 'YWI=', 'YWJj', '/+8=', null]) {
    t.equal(atob(text), globalThis.atob(String(text)), String(text));
  }
  t.equal(btoa(12), 'MTI=');
  t.end();
});

t.test('refuses what the engine refuses', (t) => {
  for (const text of ['a', 'abcde', 'YQ=', 'Y===', '=', 'a-b_', 'YQ==x']) {
    t.throws(() => globalThis.atob(text));
    t.throws(() => atob(text), { name: 'InvalidCharacterError', code: 5 }, text);
  }
  t.throws(() => btoa('€'), { name: 'InvalidCharacterError' });
  t.end();
});
