import { base64Of, bytesFromBase64 } from '../globals/encoding/bytes.ts';
import {
  type Bytes,
  CryptoKey,
  type CryptoKeyParts,
  type CryptoKeyRequest,
  computeBytes,
  createParameters,
  cryptoKeyParts,
  type Dictionary,
  KEY_USAGES,
  type KeyFormat,
  type KeyPair,
  type MakeCryptoError,
  makeKey,
  type SubtleAlgorithm,
  type SubtleTools,
  toDomString,
} from '../globals/subtle/algorithm.ts';
import { createCurves, createRsa } from '../globals/subtle/pair-algorithms.ts';
import { createAes, createHmac, createSubtleDerivations } from '../globals/subtle/secret-algorithms.ts';
import { conformToWebIdl } from '../globals/web-idl.ts';
import type { RuntimeServices } from '../lazy-module-loader.ts';
import { createProcessCrypto } from '../node/crypto/process-crypto.ts';

/** What key operations need of the other classes and of the process. */
interface SubtleServices extends Pick<RuntimeServices, 'compute' | 'computeLater' | 'random'> {
  DOMException: new (message: string, name: string) => Error;
}

const FORMATS: readonly string[] = ['raw', 'spki', 'pkcs8', 'jwk'];

const permit = Symbol('permit');

/** `crypto.subtle` (Web Cryptography 14). Keys stay in the isolate. The process does the arithmetic. */
export function createSubtle({ DOMException, random, ...services }: SubtleServices) {
  const fail: MakeCryptoError = (name, message) => new DOMException(message, name);
  const parameters = createParameters(fail);
  const tools: SubtleTools = {
    fail,
    parameters,
    arithmetic: createProcessCrypto(services),
    random: (bytes) => Uint8Array.from(random(bytes), (character) => character.charCodeAt(0)),
  };
  const algorithms = [
    createHmac(tools),
    ...createAes(tools),
    ...createSubtleDerivations(tools),
    ...createCurves(tools),
    ...createRsa(tools),
  ];

  /**
   * The algorithm that a caller names, and the first of the operations that it has. Its `name` is that of the
   * specification.
   */
  function algorithmFor<O extends Exclude<keyof SubtleAlgorithm, 'name'>>(given: unknown, ...operations: O[]) {
    const options = parameters.named(given);
    const { name } = options;
    const found = algorithms.find((one) => one.name.toUpperCase() === name.toUpperCase());
    const operation = operations.find((one) => found?.[one] !== undefined);
    if (found === undefined || operation === undefined) {
      throw fail('NotSupportedError', `The algorithm ${name} is not available here`);
    }
    return { algorithm: found as SubtleAlgorithm & Required<Pick<SubtleAlgorithm, O>>, given: options, operation };
  }

  function keyFor(key: unknown, { name }: SubtleAlgorithm, usage: string): CryptoKeyParts {
    const parts = keyOf(key);
    if (parts.algorithm.name !== name) throw fail('InvalidAccessError', `The key is not for ${name}`);
    if (!parts.usages.includes(usage)) throw fail('InvalidAccessError', `The key may not be used for ${usage}`);
    return parts;
  }

  function keyOf(key: unknown): CryptoKeyParts {
    const parts = cryptoKeyParts(key);
    if (parts === undefined) throw new TypeError('The key is not a CryptoKey');
    return parts;
  }

  function formatOf(given: unknown): KeyFormat {
    const format = toDomString(given);
    if (!FORMATS.includes(format)) throw new TypeError(`${format} is no form of keys`);
    return format as KeyFormat;
  }

  function keyRequestOf(extractable: unknown, usages: unknown): CryptoKeyRequest {
    const all = [...(usages as Iterable<unknown>)].map(toDomString);
    const unknown = all.find((usage) => !KEY_USAGES.includes(usage));
    if (unknown !== undefined) throw new TypeError(`${unknown} is no usage of keys`);
    return { extractable: Boolean(extractable), usages: all };
  }

  /** @throws SyntaxError when a secret or private key has no usage */
  function usable<T extends CryptoKey | KeyPair>(made: T): T {
    const key: CryptoKey = made instanceof CryptoKey ? made : made.privateKey;
    if (key.type !== 'public' && key.usages.length === 0) {
      throw fail('SyntaxError', 'The key could be used for nothing');
    }
    return made;
  }

  function imported(format: KeyFormat, data: Bytes | Dictionary, given: unknown, request: CryptoKeyRequest): CryptoKey {
    const { algorithm, given: options } = algorithmFor(given, 'importKey');
    return usable(algorithm.importKey(format, data, options, request));
  }

  function exported(format: KeyFormat, key: CryptoKeyParts): Bytes | Dictionary {
    const { algorithm } = algorithmFor(key.algorithm.name, 'exportKey');
    if (!key.extractable) throw fail('InvalidAccessError', 'The key is not extractable');
    return algorithm.exportKey(format, key);
  }

  function keyData(format: KeyFormat, data: unknown): Bytes | Dictionary {
    if (format !== 'jwk') return parameters.bytesIn(data, 'The key');
    if (typeof data !== 'object' || data === null || ArrayBuffer.isView(data) || data instanceof ArrayBuffer) {
      throw new TypeError('The key is not a JSON Web Key');
    }
    return data as Dictionary;
  }

  function bitsFor(value: unknown): number | null {
    return value === null || value === undefined ? null : parameters.whole({ length: value }, 'length');
  }

  const derived = (given: unknown, key: unknown, usage: string, bits: number | null) => {
    const { algorithm, given: options } = algorithmFor(given, 'deriveBits');
    return algorithm.deriveBits(options, keyFor(key, algorithm, usage), bits);
  };

  class SubtleCrypto {
    constructor(given?: symbol) {
      if (given !== permit) throw new TypeError('Illegal constructor');
    }

    async digest(algorithm: unknown, data: unknown): Promise<ArrayBuffer> {
      const hash = parameters.hash({ hash: algorithm });
      return computeBytes(tools, { op: 'digest', hash, data: base64Of(parameters.bytesIn(data, 'The data')) }).buffer;
    }

    async encrypt(given: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
      const { algorithm, given: options } = algorithmFor(given, 'encrypt');
      const bytes = parameters.bytesIn(data, 'The data');
      return algorithm.encrypt(options, keyFor(key, algorithm, 'encrypt'), bytes).buffer;
    }

    async decrypt(given: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
      const { algorithm, given: options } = algorithmFor(given, 'decrypt');
      const bytes = parameters.bytesIn(data, 'The data');
      return algorithm.decrypt(options, keyFor(key, algorithm, 'decrypt'), bytes).buffer;
    }

    async sign(given: unknown, key: unknown, data: unknown): Promise<ArrayBuffer> {
      const { algorithm, given: options } = algorithmFor(given, 'sign');
      const bytes = parameters.bytesIn(data, 'The data');
      return algorithm.sign(options, keyFor(key, algorithm, 'sign'), bytes).buffer;
    }

    async verify(given: unknown, key: unknown, signature: unknown, data: unknown): Promise<boolean> {
      const { algorithm, given: options } = algorithmFor(given, 'verify');
      const [signed, bytes] = [parameters.bytesIn(signature, 'The signature'), parameters.bytesIn(data, 'The data')];
      return algorithm.verify(options, keyFor(key, algorithm, 'verify'), signed, bytes);
    }

    async generateKey(given: unknown, extractable: unknown, usages: unknown): Promise<CryptoKey | KeyPair> {
      const request = keyRequestOf(extractable, usages);
      const { algorithm, given: options } = algorithmFor(given, 'generateKey');
      return usable(await algorithm.generateKey(options, request));
    }

    async importKey(format: unknown, data: unknown, given: unknown, extractable: unknown, usages: unknown) {
      const form = formatOf(format);
      return imported(form, keyData(form, data), given, keyRequestOf(extractable, usages));
    }

    async exportKey(format: unknown, key: unknown): Promise<ArrayBuffer | Dictionary> {
      const written = exported(formatOf(format), keyOf(key));
      return written instanceof Uint8Array ? written.buffer : written;
    }

    async deriveBits(given: unknown, key: unknown, length: unknown = null): Promise<ArrayBuffer> {
      const bits = bitsFor(length);
      return (await derived(given, key, 'deriveBits', bits)).buffer;
    }

    async deriveKey(given: unknown, key: unknown, of: unknown, extractable: unknown, usages: unknown) {
      const request = keyRequestOf(extractable, usages);
      algorithmFor(given, 'deriveBits');
      const { algorithm, given: options } = algorithmFor(of, 'lengthOf');
      keyOf(key);
      const bytes = await derived(given, key, 'deriveKey', algorithm.lengthOf(options));
      return imported('raw', bytes, of, request);
    }

    async wrapKey(format: unknown, key: unknown, wrapping: unknown, given: unknown): Promise<ArrayBuffer> {
      const form = formatOf(format);
      const { algorithm, given: options, operation } = algorithmFor(given, 'wrapKey', 'encrypt');
      const parts = keyFor(wrapping, algorithm, 'wrapKey');
      const written = exported(form, keyOf(key));
      const bytes = written instanceof Uint8Array ? written : utf8(JSON.stringify(written));
      return algorithm[operation](options, parts, bytes as Bytes).buffer;
    }

    async unwrapKey(
      format: unknown,
      wrapped: unknown,
      unwrapping: unknown,
      given: unknown,
      of: unknown,
      extractable: unknown,
      usages: unknown,
    ): Promise<CryptoKey> {
      const form = formatOf(format);
      const request = keyRequestOf(extractable, usages);
      const bytes = parameters.bytesIn(wrapped, 'The key');
      const { algorithm, given: options, operation } = algorithmFor(given, 'unwrapKey', 'decrypt');
      algorithmFor(of, 'importKey');
      const opened = algorithm[operation](options, keyFor(unwrapping, algorithm, 'unwrapKey'), bytes);
      return imported(form, form === 'jwk' ? jwkIn(opened) : opened, of, request);
    }
  }

  conformToWebIdl(SubtleCrypto);

  function jwkIn(bytes: Bytes): Dictionary {
    try {
      const value: unknown = JSON.parse(Buffer.from(bytes).toString());
      if (typeof value === 'object' && value !== null) return value as Dictionary;
    } catch {
      // Fails below.
    }
    throw fail('DataError', 'The key is not a JSON Web Key');
  }

  const forms = { secret: 'raw', public: 'spki', private: 'pkcs8' } as const;
  const webKeys = {
    make(
      { type, material }: Pick<CryptoKeyParts, 'type' | 'material'>,
      given: unknown,
      extractable: unknown,
      usages: unknown,
    ) {
      const bytes = bytesFromBase64(material);
      return imported(forms[type], bytes, given, keyRequestOf(extractable, usages));
    },
  };
  const copyKey = (value: object): CryptoKey | undefined => {
    const parts = cryptoKeyParts(value);
    return parts === undefined ? undefined : makeKey(parts);
  };
  return { CryptoKey, SubtleCrypto, copyKey, subtle: new SubtleCrypto(permit), webKeys };
}

function utf8(written: string): Uint8Array {
  return new Uint8Array(Buffer.from(written));
}

/** The part of Web Cryptography that works with keys. */
export function create({ classes, compute, computeLater, random }: RuntimeServices): Record<string, unknown> {
  return createSubtle({ DOMException: classes.DOMException, compute, computeLater, random });
}
