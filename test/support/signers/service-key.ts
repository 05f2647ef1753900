import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { hexlify, SigningKey } from 'ethers';
import type { Curve } from '../../../src/signers/signer.ts';

/** A key that a stand-in for a real service keeps. */
export interface ServiceKey {
  readonly curve: Curve;
  /** 65 bytes, or 32. */
  readonly publicKey: Buffer;
  /** SubjectPublicKeyInfo. */
  readonly spki: KeyObject;
  /** The scalar or the seed. */
  readonly secret: Buffer;
  /** 64 bytes: `r ‖ s` over a digest, every other one with a high s as from real services; or an Ed25519 signature. */
  sign(payload: Uint8Array): Buffer;
}

const ORDER = 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_fffe_baae_dce6_af48_a03b_bfd2_5e8c_d036_4141n;

export function newServiceKey(curve: Curve): ServiceKey {
  return curve === 'secp256k1' ? secp256k1Key() : ed25519Key();
}

function secp256k1Key(): ServiceKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
  const secret = Buffer.from(privateKey.export({ format: 'jwk' }).d ?? '', 'base64url');
  const key = new SigningKey(hexlify(secret));
  let signed = 0;
  return {
    curve: 'secp256k1',
    publicKey: Buffer.from(key.publicKey.slice(2), 'hex'),
    spki: publicKey,
    secret,
    sign(digest) {
      const { r, s } = key.sign(digest);
      signed += 1;
      const shown = signed % 2 === 0 ? BigInt(s) : ORDER - BigInt(s);
      return Buffer.from(r.slice(2) + shown.toString(16).padStart(64, '0'), 'hex');
    },
  };
}

function ed25519Key(): ServiceKey {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' });
  return {
    curve: 'ed25519',
    publicKey: Buffer.from(x, 'base64url'),
    spki: publicKey,
    secret: Buffer.from(d, 'base64url'),
    sign: (message) => sign(null, message, privateKey),
  };
}

/** `r ‖ s` in DER, with the shortest integers there are. */
export function derOf(signature: Buffer): Buffer {
  const integer = (bytes: Buffer) => {
    const digits = BigInt(`0x${bytes.toString('hex')}`).toString(16);
    const even = digits.length % 2 === 0 ? digits : `0${digits}`;
    const value = Buffer.from(/^[89a-f]/.test(even) ? `00${even}` : even, 'hex');
    return Buffer.concat([Buffer.from([0x02, value.length]), value]);
  };
  const both = Buffer.concat([integer(signature.subarray(0, 32)), integer(signature.subarray(32))]);
  return Buffer.concat([Buffer.from([0x30, both.length]), both]);
}
