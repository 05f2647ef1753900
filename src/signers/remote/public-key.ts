import { createPublicKey, type KeyObject } from 'node:crypto';
import { uncompressedPoint } from '../secp256k1/ecdsa.ts';
import type { Curve } from '../signer.ts';

/** Reads a public key in the forms of the services. Returns the form of signers: 65 bytes `04 ‖ X ‖ Y`, or 32. */

/**
 * A key in SubjectPublicKeyInfo (RFC 5280), as PEM or as DER.
 * @throws Error when it is a key of another curve, or none
 */
export function publicKeyOfSpki(curve: Curve, spki: string | Uint8Array): Uint8Array {
  let key: KeyObject;
  try {
    key =
      typeof spki === 'string'
        ? createPublicKey(spki)
        : createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
  } catch (cause) {
    throw new Error('its public key cannot be read', { cause });
  }
  if (key.asymmetricKeyType === 'ed25519') return ofCurve(curve, 'ed25519', fieldOf(key.export({ format: 'jwk' }).x));
  const { namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  if (namedCurve !== 'secp256k1') throw new Error(`its key is of type ${key.asymmetricKeyType} ${namedCurve}`.trim());
  return ofCurve(curve, 'secp256k1', publicKeyOfJwk(key.export({ format: 'jwk' })));
}

/**
 * The secp256k1 point of a JWK (RFC 8812, section 3.1).
 * @throws Error when x and y are no point of the curve
 */
export function publicKeyOfJwk({ x, y }: { x?: string | undefined; y?: string | undefined }): Uint8Array {
  return publicKeyOfPoint(Buffer.concat([Buffer.from([4]), fieldOf(x), fieldOf(y)]));
}

/**
 * A secp256k1 point, compressed or not.
 * @throws Error when it is no point of the curve
 */
export function publicKeyOfPoint(point: Uint8Array): Uint8Array {
  const whole = uncompressedPoint(point);
  if (whole === undefined) throw new Error('its public key is not a point of secp256k1');
  return whole;
}

function fieldOf(text: string | undefined): Buffer {
  const bytes = Buffer.from(text ?? '', 'base64url');
  if (bytes.length !== 32) throw new Error(`a coordinate of its public key has ${bytes.length} bytes instead of 32`);
  return bytes;
}

function ofCurve(asked: Curve, actual: Curve, publicKey: Uint8Array): Uint8Array {
  if (asked !== actual) throw new Error(`its key is on ${actual}, and is asked to sign on ${asked}`);
  return publicKey;
}
