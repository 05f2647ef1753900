import { randomBytes } from 'node:crypto';
import { computeAddress, hexlify, recoverAddress, Signature, SigningKey } from 'ethers';
import t from 'tap';
import {
  assertSignedBy,
  isSecp256k1Scalar,
  recoverPublicKey,
  secp256k1PublicKey,
  signDigest,
} from '../../../../../src/signers/secp256k1/ecdsa.ts';
import { runsOf } from '../../../../support/properties.ts';

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
