import { base64Of } from '../../globals/encoding/bytes.ts';
import type { PartWorld } from '../../part-world.ts';
import { checkInteger, checkObject, checkString, nodeError, wrongType, wrongValue } from '../node-error.ts';
import type { Arithmetic } from './arithmetic.ts';
import { tell } from './callbacks.ts';
import type { ReadKey, SlowQuestion } from './crypto-question.ts';
import type { createKeyObjects, KeyEncoding } from './key-objects.ts';

const CURVE_KINDS = ['ed25519', 'ed448', 'x25519', 'x448'];
const MAX_UINT = 2 ** 32 - 1;
/** Node's default for the public exponent. */
const EXPONENT = 0x10001;
const MAX_BITS = 2 ** 31 - 1;
const AES_BITS: readonly unknown[] = [128, 192, 256];

type Options = Readonly<Record<string, unknown>>;
type Exportable = { export(options: KeyEncoding): unknown };

/** Makes new keys. With a callback, RSA keys are computed beside the guest. */
export function createKeyPairs(
  arithmetic: Arithmetic,
  { make }: ReturnType<typeof createKeyObjects>,
  random: PartWorld['random'],
) {
  function pair(text: string, options: Options) {
    const [publicKey, privateKey] = JSON.parse(text) as [ReadKey, ReadKey];
    const written = (key: unknown, name: string) => {
      const encoding = options[name];
      if (encoding === undefined || encoding === null) return key;
      checkObject(encoding, `options.${name}`);
      return (key as Exportable).export(encoding);
    };
    return {
      publicKey: written(make('public', publicKey.key), 'publicKeyEncoding'),
      privateKey: written(make('private', privateKey.key), 'privateKeyEncoding'),
    };
  }

  function secretKey(type: unknown, options: unknown) {
    checkString(type, 'type');
    checkObject(options, 'options');
    const { length } = options;
    if (type === 'hmac') checkInteger(length, 'options.length', 8, MAX_BITS);
    else if (type !== 'aes') throw wrongValue('type', type, 'must be a supported key type');
    else if (!AES_BITS.includes(length)) {
      throw wrongValue('options.length', length, 'must be one of: 128, 192, 256');
    }
    const characters = random(Math.floor((length as number) / 8));
    return make('secret', base64Of(Uint8Array.from(characters, (character) => character.charCodeAt(0))));
  }

  return {
    generateKeyPairSync(kind: unknown, options: Options = {}) {
      return pair(arithmetic.text(questionOf(kind, options)), options);
    },
    generateKeyPair(kind: unknown, given: unknown, callback?: unknown): void {
      const [options, told] = typeof given === 'function' ? [{}, given] : [(given ?? {}) as Options, callback];
      const question = questionOf(kind, options);
      const isSlow = 'bits' in question;
      const text = isSlow ? arithmetic.textLater(question) : Promise.resolve().then(() => arithmetic.text(question));
      const pairLater = text.then((made) => pair(made, options));
      tell(
        told,
        pairLater.then(({ publicKey, privateKey }) => [publicKey, privateKey]),
      );
    },
    generateKeySync: secretKey,
    generateKey(type: unknown, options: unknown, callback?: unknown): void {
      const key = secretKey(type, options);
      tell(callback, Promise.resolve([key]));
    },
  };
}

function questionOf(kind: unknown, options: Options): SlowQuestion {
  checkString(kind, 'type');
  if (CURVE_KINDS.includes(kind)) return { op: 'key-pair', kind };
  if (kind === 'ec') {
    checkObject(options, 'options');
    const { namedCurve } = options;
    checkString(namedCurve, 'options.namedCurve');
    return { op: 'key-pair', kind, curve: namedCurve };
  }
  if (kind !== 'rsa' && kind !== 'rsa-pss') {
    if (kind === 'dsa' || kind === 'dh') {
      const message = `New keys of ${kind} are not there in a plugin, since they take too long. Use ec, ed25519 or x25519`;
      throw nodeError('ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', message);
    }
    throw wrongValue('type', kind, 'must be a supported key type');
  }
  checkObject(options, 'options');
  const { modulusLength, publicExponent = EXPONENT, hashAlgorithm, mgf1HashAlgorithm, saltLength } = options;
  checkInteger(modulusLength, 'options.modulusLength', 0, MAX_UINT);
  checkInteger(publicExponent, 'options.publicExponent', 0, MAX_UINT);
  const rsa = { op: 'key-pair', kind, bits: modulusLength, exponent: publicExponent } as const;
  return {
    ...rsa,
    ...(hashAlgorithm === undefined ? {} : { hash: textIn(hashAlgorithm, 'options.hashAlgorithm') }),
    ...(mgf1HashAlgorithm === undefined ? {} : { mgf1: textIn(mgf1HashAlgorithm, 'options.mgf1HashAlgorithm') }),
    ...(saltLength === undefined ? {} : { salt: saltLength as number }),
  };
}

function textIn(value: unknown, name: string): string {
  if (typeof value !== 'string') throw wrongType(name, 'of type string', value);
  return value;
}
