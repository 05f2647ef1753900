/** Threat: a plugin's package that changes what a key is shown to be, and uses it so. */
import t from 'tap';
import { CryptoKey, makeKey, partsOf } from '../../../../../../sandbox/guest/globals/subtle/algorithm.ts';

const PARTS = {
  type: 'public',
  extractable: true,
  algorithm: { name: 'RSA-PSS', hash: { name: 'SHA-1' }, publicExponent: new Uint8Array([3]) },
  usages: ['verify'],
  material: 'AA==',
} as const;

t.test('a key shows copies of what it is', (t) => {
  const key = makeKey(PARTS);
  t.strictSame(
    [key.type, key.extractable, key.usages, String(key)],
    ['public', true, ['verify'], '[object CryptoKey]'],
  );
  t.equal(key.algorithm, key.algorithm);
  key.algorithm.name = 'other';
  (key.usages as string[]).push('sign');
  t.strictSame(partsOf(key), PARTS);
  t.end();
});

t.test('nothing else is one', (t) => {
  t.throws(() => new CryptoKey(), TypeError);
  t.throws(() => new CryptoKey(Symbol('permit'), PARTS), TypeError);
  for (const other of [undefined, null, 5, {}, Object.create(makeKey(PARTS)), PARTS])
    t.equal(partsOf(other), undefined);
  t.end();
});
