import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { hexlify, Signature, SigningKey } from 'ethers';
import t from 'tap';
import { loadNativeSecp256k1, loadWasmSecp256k1, type Secp256k1 } from '../../../../src/signers/secp256k1.ts';
import { runsOf } from '../../../support/properties.ts';

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The curve of ethers, which is pure JavaScript and uses no libsecp256k1. */
const ethersCurve: Secp256k1 = {
  isScalar: (key) => BigInt(hexlify(key)) > 0n && BigInt(hexlify(key)) < ORDER,
  pointOf: (encoded) => unlessThrown(() => SigningKey.computePublicKey(encoded, false)),
  multiplyBase: (scalar) => unlessThrown(() => new SigningKey(scalar).publicKey),
  sign: (digest, key) => {
    const { r, s, yParity } = new SigningKey(key).sign(digest);
    return { signature: bytesOf(r + s.slice(2)), recoveryId: yParity };
  },
  recover: (digest, signature, recoveryId) =>
    unlessThrown(() => {
      const [r, s] = [hexlify(signature.subarray(0, 32)), hexlify(signature.subarray(32))];
      return SigningKey.recoverPublicKey(digest, Signature.from({ r, s, yParity: recoveryId }));
    }),
};

/** Returns a curve's results for the same keys, digests and invalid inputs, byte by byte. */
function resultsOf({ isScalar, pointOf, multiplyBase, sign, recover }: Secp256k1): unknown[] {
  const [nothing, beyond] = [Buffer.alloc(32), Buffer.alloc(32, 0xff)];
  const answers: unknown[] = [nothing, beyond].flatMap((key) => [isScalar(key), multiplyBase(key)]);
  for (let count = 0; count < runsOf(50); count += 1) {
    const [key, digest] = [hashed(`key ${count}`), hashed(`digest ${count}`)];
    const point = multiplyBase(key) ?? nothing;
    const { signature, recoveryId } = sign(digest, key);
    const compressed = Buffer.from([(point[64] ?? 0) % 2 === 0 ? 2 : 3, ...point.subarray(1, 33)]);
    const offCurve = Buffer.from(point).fill(0, 40);
    answers.push(isScalar(key), point, signature, recoveryId, pointOf(compressed), pointOf(point), pointOf(offCurve));
    answers.push(recover(digest, signature, 0), recover(digest, signature, 1), recover(hashed('other'), signature, 0));
  }
  for (const wrong of [Buffer.alloc(64), Buffer.alloc(64, 0xff)]) answers.push(recover(nothing, wrong, 0));
  return answers.map((answer) => (answer instanceof Uint8Array ? hexlify(answer) : answer));
}

function hashed(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex.slice(2), 'hex');
}

function unlessThrown(point: () => string): Uint8Array | undefined {
  try {
    return bytesOf(point());
  } catch {
    return undefined;
  }
}

t.test('ethers agrees with all that each build of libsecp256k1 says', async (t) => {
  const expected = resultsOf(ethersCurve);
  t.same(resultsOf(loadWasmSecp256k1()), expected);
  const folder = dirname(createRequire(import.meta.url).resolve('secp256k1/package.json'));
  const built = readdirSync(join(folder, 'prebuilds'));
  t.ok(built.includes('linux-x64'));
  const native = loadNativeSecp256k1();
  t.equal(native !== undefined, built.includes(`${process.platform}-${process.arch}`), 'it is used where it is built');
  if (native !== undefined) t.same(resultsOf(native), expected);
});
