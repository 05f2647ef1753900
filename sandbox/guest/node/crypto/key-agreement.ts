import { base64Of, bytesFromBase64 } from '../../globals/encoding/bytes.ts';
import { checkObject, checkString, nodeError, textOf, wrongValue } from '../node-error.ts';
import type { Arithmetic } from './arithmetic.ts';
import { nowOrTold } from './callbacks.ts';
import { anyBytesOf, given } from './hashes.ts';
import type { KeyReading } from './key-reading.ts';

const FORMS: readonly unknown[] = ['compressed', 'uncompressed', 'hybrid'];

/** Secrets that two sides share: `diffieHellman` on key objects, and the class `ECDH` on bytes. */
export function createKeyAgreement(arithmetic: Arithmetic, { privateDer, publicDer }: KeyReading) {
  function inForm(point: Uint8Array, curve: string, form: unknown): Uint8Array {
    if (form === undefined || form === null || form === 'uncompressed') {
      if (point[0] === 4) return point;
    } else if (!FORMS.includes(form)) {
      throw nodeError('ERR_CRYPTO_ECDH_INVALID_FORMAT', `Invalid ECDH format: ${textOf(form)}`, TypeError);
    }
    const wanted = (form ?? 'uncompressed') as string;
    return arithmetic.bytes({ op: 'point', curve, peer: base64Of(point), form: wanted });
  }

  class ECDH {
    readonly #curve: string;
    #key: Uint8Array | undefined;
    #point: Uint8Array | undefined;

    constructor(curve: unknown) {
      checkString(curve, 'curve');
      if (!(JSON.parse(arithmetic.text({ op: 'names', of: 'curves' })) as string[]).includes(curve)) {
        throw nodeError('ERR_CRYPTO_INVALID_CURVE', 'Invalid EC curve name', TypeError);
      }
      this.#curve = curve;
    }

    static convertKey(key: unknown, curve: unknown, inEncoding?: unknown, outEncoding?: unknown, form?: unknown) {
      checkString(curve, 'curve');
      const point = anyBytesOf(key, inEncoding, 'key');
      const question = { op: 'point', curve, peer: base64Of(point), form: (form ?? 'uncompressed') as string } as const;
      return given(arithmetic.bytes(question), outEncoding);
    }

    generateKeys(encoding?: unknown, form?: unknown) {
      this.#take(arithmetic.text({ op: 'point', curve: this.#curve }));
      return this.getPublicKey(encoding, form);
    }

    setPrivateKey(key: unknown, encoding?: unknown): void {
      const bytes = base64Of(anyBytesOf(key, encoding, 'key'));
      this.#take(arithmetic.text({ op: 'point', curve: this.#curve, key: bytes }));
    }

    computeSecret(other: unknown, inEncoding?: unknown, outEncoding?: unknown) {
      const peer = base64Of(anyBytesOf(other, inEncoding, 'otherPublicKey'));
      const key = base64Of(this.#known(this.#key, 'private'));
      return given(arithmetic.bytes({ op: 'point', curve: this.#curve, key, peer }), outEncoding);
    }

    getPrivateKey(encoding?: unknown) {
      return given(this.#known(this.#key, 'private').slice(), encoding);
    }

    getPublicKey(encoding?: unknown, form?: unknown) {
      const point = this.#known(this.#point, 'public');
      return given(inForm(point, this.#curve, form).slice(), encoding);
    }

    #take(pair: string): void {
      const [key = '', point = ''] = pair.split(' ');
      this.#key = bytesFromBase64(key);
      this.#point = bytesFromBase64(point);
    }

    #known(bytes: Uint8Array | undefined, kind: string): Uint8Array {
      if (bytes === undefined) throw nodeError('ERR_CRYPTO_OPERATION_FAILED', `Failed to get ECDH ${kind} key`);
      return bytes;
    }
  }

  return {
    ECDH,
    createECDH: (curve: unknown) => new ECDH(curve),
    diffieHellman(options: unknown, callback?: unknown): Buffer | undefined {
      checkObject(options, 'options');
      const { privateKey, publicKey } = options;
      if (privateKey === undefined) throw wrongValue('options.privateKey', privateKey);
      if (publicKey === undefined) throw wrongValue('options.publicKey', publicKey);
      const question = { op: 'agree', key: privateDer(privateKey), peer: publicDer(publicKey) } as const;
      return nowOrTold(() => Buffer.from(arithmetic.bytes(question).buffer), callback);
    },
  };
}
