import { DOMException } from './dom-exception.ts';
import { conformToWebIdl } from './web-idl.ts';

/** Most bytes that one call may fill (Web Cryptography 10.1.1). */
const QUOTA_BYTES = 65_536;
const INTEGER_KINDS = /^(Big)?(Ui|I)nt\d+(Clamped)?Array$/;
const kindOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)
  ?.get as () => string | undefined;

/**
 * The part of Web Cryptography that needs no keys. `randomBytes` returns that many bytes as characters, at most 65536.
 */
export function createCrypto(randomBytes: (bytes: number) => string, subtle: () => unknown) {
  const permit = Symbol('permit');

  class Crypto {
    readonly #random: (bytes: number) => string;
    readonly #subtle = subtle;

    constructor(given?: symbol) {
      if (given !== permit) throw new TypeError('Illegal constructor');
      this.#random = randomBytes;
    }

    get subtle(): unknown {
      return this.#subtle();
    }

    getRandomValues<T>(array: T): T {
      if (!ArrayBuffer.isView(array)) throw new TypeError('The argument is no view of a buffer');
      const kind = kindOf.call(array);
      if (kind === undefined || !INTEGER_KINDS.test(kind)) {
        throw new DOMException('The argument is not an integer typed array.', 'TypeMismatchError');
      }
      const view: ArrayBufferView = array;
      if (view.byteLength > QUOTA_BYTES) {
        throw new DOMException(
          `${view.byteLength} bytes were asked for; one call gives at most ${QUOTA_BYTES}.`,
          'QuotaExceededError',
        );
      }
      const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
      const random = this.#random(view.byteLength);
      for (let index = 0; index < bytes.length; index++) bytes[index] = random.charCodeAt(index);
      return array;
    }

    /** Version 4, variant 1 (RFC 9562 5.4). */
    randomUUID(): string {
      const random = this.#random(16);
      let uuid = '';
      for (let index = 0; index < 16; index++) {
        let byte = random.charCodeAt(index);
        if (index === 6) byte = (byte & 0x0f) | 0x40;
        if (index === 8) byte = (byte & 0x3f) | 0x80;
        if (index === 4 || index === 6 || index === 8 || index === 10) uuid += '-';
        uuid += (byte < 16 ? '0' : '') + byte.toString(16);
      }
      return uuid;
    }
  }

  conformToWebIdl(Crypto, { required: { getRandomValues: 1 } });
  return { Crypto, crypto: new Crypto(permit) };
}
