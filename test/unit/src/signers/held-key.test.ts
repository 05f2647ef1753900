// Threat: a key reaches a log or an error when somebody prints the object that holds it.
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import t from 'tap';
import { holdKey, KeyFault } from '../../../../src/signers/held-key.ts';
import { assertSignedBy } from '../../../../src/signers/secp256k1/ecdsa.ts';

t.test('one key signs on both curves', (t) => {
  const held = holdKey(randomBytes(32));
  const digest = randomBytes(32);
  const publicKey = held.publicKey('secp256k1');
  t.equal(publicKey.length, 65);
  assertSignedBy(digest, held.sign('secp256k1', digest), publicKey);
  t.equal(held.publicKey('ed25519').length, 32);
  t.equal(held.sign('ed25519', Buffer.from('any message')).length, 64);
  t.throws(() => held.sign('secp256k1', Buffer.alloc(31)), new KeyFault('a digest has 32 bytes, not 31'));
  publicKey.fill(0);
  t.equal(held.sign('secp256k1', digest).length, 65, 'what is handed out is a copy');
  t.end();
});

t.test('a key outside the range of secp256k1 still is an ed25519 seed', (t) => {
  for (const seed of [Buffer.alloc(32), Buffer.alloc(32, 255)]) {
    const held = holdKey(seed);
    t.throws(() => held.publicKey('secp256k1'), { name: 'KeyFault', message: /zero or not below the order/ });
    t.throws(() => held.sign('secp256k1', Buffer.alloc(32)), { name: 'KeyFault' });
    t.equal(held.publicKey('ed25519').length, 32);
  }
  t.end();
});

t.test('nothing that prints it or its errors shows the key', (t) => {
  const key = randomBytes(32);
  const hex = key.toString('hex');
  const held = holdKey(key);
  held.publicKey('ed25519');
  const printed = [JSON.stringify(held), inspect(held, { depth: 9, showHidden: true })];
  for (const text of printed) t.notOk(text.includes(hex) || text.includes(key.toString('base64')));
  t.end();
});

t.test('wiping zeroes the key, ends signing, and may be done twice', (t) => {
  const key = randomBytes(32);
  const held = holdKey(key);
  held.publicKey('secp256k1');
  held.wipe();
  held.wipe();
  t.ok(key.equals(Buffer.alloc(32)));
  for (const curve of ['secp256k1', 'ed25519'] as const) {
    t.throws(() => held.sign(curve, Buffer.alloc(32)), { name: 'KeyFault', message: 'it is closed' });
    t.throws(() => held.publicKey(curve), { message: 'it is closed' });
  }
  t.end();
});
