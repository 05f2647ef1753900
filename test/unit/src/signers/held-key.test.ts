// Threat: a key reaches a log or an error when somebody prints the object that holds it.
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { computeAddress, hexlify, recoverAddress, Signature, SigningKey } from 'ethers';
import t from 'tap';
import { ed25519Pair } from '../../../../src/signers/ed25519.ts';
import { createKeySigner, holdKey, KeyFault } from '../../../../src/signers/held-key.ts';
import {
  assertSignedBy,
  isSecp256k1Scalar,
  recoverPublicKey,
  secp256k1PublicKey,
  signDigest,
} from '../../../../src/signers/secp256k1.ts';
import { runsOf } from '../../../support/properties.ts';

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

t.test('signs, and what it cannot is an error with its name', async (t) => {
  const signer = createKeySigner('both', randomBytes(32));
  const digest = randomBytes(32);
  assertSignedBy(digest, await signer.sign('secp256k1', digest), await signer.publicKey('secp256k1'));
  t.equal((await signer.sign('ed25519', Buffer.from('any message'))).length, 64);
  await t.rejects(signer.sign('secp256k1', Buffer.alloc(31)), {
    code: 'SIGNER_FAILED',
    message: 'Signer both failed: a digest has 32 bytes, not 31',
  });
});

t.test('closing wipes the key', async (t) => {
  const key = randomBytes(32);
  const signer = createKeySigner('closed', key);
  await signer.close();
  t.ok(key.equals(Buffer.alloc(32)));
  await t.rejects(signer.publicKey('ed25519'), { message: 'Signer closed failed: it is closed' });
});

t.test('ed25519', async (t) => {
  /** The vectors of RFC 8032 section 7.1, tests 1 and 2. */
  const VECTORS = [
    {
      seed: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
      publicKey: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
      message: '',
      signature:
        'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
    },
    {
      seed: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
      publicKey: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
      message: '72',
      signature:
        '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
    },
  ];

  t.test('the vectors of the standard', async (t) => {
    for (const { seed, publicKey, message, signature } of VECTORS) {
      const bytes = Buffer.from(seed, 'hex');
      const pair = ed25519Pair(bytes);
      bytes.fill(0);
      t.equal(Buffer.from(pair.publicKey).toString('hex'), publicKey);
      t.equal(Buffer.from(pair.sign(Buffer.from(message, 'hex'))).toString('hex'), signature, 'the seed may be wiped');
    }
  });
});

t.test('ecdsa', async (t) => {
  const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const bytes = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');

  t.test('ethers agrees with every signature', async (t) => {
    const key = randomBytes(32);
    const oracle = new SigningKey(hexlify(key));
    const publicKey = secp256k1PublicKey(key);
    t.equal(hexlify(publicKey), oracle.publicKey);
    const address = computeAddress(oracle);
    const recoveries = new Set<number>();
    let wrong = 0;
    for (let count = 0; count < runsOf(100); count += 1) {
      const digest = randomBytes(32);
      const signed = signDigest(digest, key, publicKey);
      const [r, s] = [hexlify(signed.subarray(0, 32)), hexlify(signed.subarray(32, 64))];
      const yParity = signed[64] === 1 ? 1 : 0;
      recoveries.add(yParity);
      const isLow = BigInt(s) <= ORDER / 2n;
      const expected = oracle.sign(digest);
      const isSame = expected.r === r && expected.s === s && expected.yParity === yParity;
      const recovered = recoverAddress(digest, Signature.from({ r, s, yParity }));
      if (signed.length !== 65 || !isLow || !isSame || recovered !== address) wrong += 1;
    }
    t.equal(wrong, 0, 'same bytes (RFC 6979), low s (EIP-2), and a recovery that leads to the account');
    t.same(recoveries, new Set([0, 1]));
  });

  t.test('the ends of the scalar range', async (t) => {
    for (const inside of [1n, ORDER - 1n]) t.ok(isSecp256k1Scalar(bytes(inside)));
    for (const outside of [0n, ORDER, (1n << 256n) - 1n]) t.notOk(isSecp256k1Scalar(bytes(outside)));
    for (const length of [0, 31, 33]) t.notOk(isSecp256k1Scalar(Buffer.alloc(length, 1)));
    t.throws(() => secp256k1PublicKey(bytes(0n)));
  });

  t.test('a signature of another key, for another digest or with another recovery is not passed on', async (t) => {
    const [key, other] = [randomBytes(32), randomBytes(32)];
    const publicKey = secp256k1PublicKey(key);
    const digest = randomBytes(32);
    const signed = signDigest(digest, key, publicKey);
    assertSignedBy(digest, signed, publicKey);
    t.throws(() => signDigest(digest, other, publicKey), { message: 'the signature was made by another key' });
    t.throws(() => assertSignedBy(randomBytes(32), signed, publicKey), { message: /another key/ });
    const flipped = Uint8Array.from(signed);
    flipped[64] = signed[64] === 1 ? 0 : 1;
    t.throws(() => assertSignedBy(digest, flipped, publicKey), { message: /another key/ });
    flipped[64] = 27;
    t.throws(() => assertSignedBy(digest, flipped, publicKey), { message: /recovery id of 0 or 1/ });
    t.throws(() => assertSignedBy(digest, signed.subarray(0, 64), publicKey), { message: /recovery id of 0 or 1/ });
  });

  t.test('a signature leads back to its key, and nonsense to none', async (t) => {
    const key = randomBytes(32);
    const publicKey = secp256k1PublicKey(key);
    const digest = randomBytes(32);
    const signed = signDigest(digest, key, publicKey);
    t.same(recoverPublicKey(digest, signed), publicKey);
    t.not(hexlify(recoverPublicKey(randomBytes(32), signed) ?? '0x'), hexlify(publicKey));
    const withRecovery = (recovery: number) => Uint8Array.from([...signed.subarray(0, 64), recovery]);
    t.equal(recoverPublicKey(digest, withRecovery(2)), undefined);
    t.equal(recoverPublicKey(digest, signed.subarray(0, 64)), undefined);
    t.equal(recoverPublicKey(digest, Buffer.alloc(65)), undefined, 'zero is no scalar');
    t.equal(recoverPublicKey(digest, Buffer.concat([Buffer.alloc(64, 0xff), Buffer.alloc(1)])), undefined);
  });
});
