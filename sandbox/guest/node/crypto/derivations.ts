import { base64Of } from '../../globals/encoding/bytes.ts';
import { checkInteger, checkString, nodeError } from '../node-error.ts';
import { bytesNamingArrayBuffer, bytesOf, callBack } from './arguments.ts';
import type { SlowCryptoQuestion } from './crypto-question.ts';
import type { NodeKeys } from './keys.ts';
import type { ProcessCrypto } from './process-crypto.ts';

const MAX_INT = 2 ** 31 - 1;
/** The types that Node names for `info`, which have another order there. */
const INFO = 'of type string or an instance of ArrayBuffer, TypedArray, DataView, or Buffer';
/** Node's own defaults. */
const SCRYPT = { cost: 16_384, block: 8, parallel: 1, memory: 32 * 1_048_576 };

interface ScryptOptions {
  N?: unknown;
  cost?: unknown;
  r?: unknown;
  blockSize?: unknown;
  p?: unknown;
  parallelization?: unknown;
  maxmem?: unknown;
}

/** Makes keys from passwords and other secrets. Functions with a callback run beside the guest. */
export function createNodeDerivations(arithmetic: ProcessCrypto, { secret }: NodeKeys) {
  const now = (question: SlowCryptoQuestion) => Buffer.from(arithmetic.bytes(question).buffer);
  const later = async (question: SlowCryptoQuestion) => Buffer.from((await arithmetic.bytesLater(question)).buffer);

  function pbkdf2(
    password: unknown,
    salt: unknown,
    iterations: unknown,
    length: unknown,
    hash: unknown,
  ): SlowCryptoQuestion {
    checkString(hash, 'digest');
    const bytes = {
      password: base64Of(bytesNamingArrayBuffer(password, 'utf8', 'password')),
      salt: base64Of(bytesNamingArrayBuffer(salt, 'utf8', 'salt')),
    };
    checkInteger(iterations, 'iterations', 1, MAX_INT);
    checkInteger(length, 'keylen', 0, MAX_INT);
    return { op: 'pbkdf2', ...bytes, iterations, length, hash };
  }

  function scrypt(password: unknown, salt: unknown, length: unknown, options: ScryptOptions): SlowCryptoQuestion {
    const bytes = {
      password: base64Of(bytesNamingArrayBuffer(password, 'utf8', 'password')),
      salt: base64Of(bytesNamingArrayBuffer(salt, 'utf8', 'salt')),
    };
    checkInteger(length, 'keylen', 0, MAX_INT);
    const cost = either(options, 'N', 'cost') ?? SCRYPT.cost;
    const block = either(options, 'r', 'blockSize') ?? SCRYPT.block;
    const parallel = either(options, 'p', 'parallelization') ?? SCRYPT.parallel;
    const { maxmem: memory = SCRYPT.memory } = options;
    checkInteger(memory, 'maxmem', 0);
    return { op: 'scrypt', ...bytes, length, cost, block, parallel, memory };
  }

  function hkdf(hash: unknown, key: unknown, salt: unknown, info: unknown, length: unknown): SlowCryptoQuestion {
    checkString(hash, 'digest');
    const bytes = {
      key: secret(key, 'ikm'),
      salt: base64Of(bytesNamingArrayBuffer(salt, 'utf8', 'salt')),
      info: base64Of(bytesOf(info, 'utf8', 'info', INFO)),
    };
    checkInteger(length, 'length', 0, MAX_INT);
    return { op: 'hkdf', hash, ...bytes, length };
  }

  type Args = readonly [unknown, unknown, unknown, unknown, unknown];
  return {
    pbkdf2Sync: (...args: Args) => now(pbkdf2(...args)),
    pbkdf2(password: unknown, salt: unknown, iterations: unknown, length: unknown, hash: unknown, callback?: unknown) {
      // Checks the hash first, as Node does. It may not be left out.
      if (typeof hash === 'function') checkString(undefined, 'digest');
      const question = pbkdf2(password, salt, iterations, length, hash);
      callBack(callback, later(question));
    },
    scryptSync: (password: unknown, salt: unknown, length: unknown, options: ScryptOptions = {}) =>
      now(scrypt(password, salt, length, options)),
    scrypt(password: unknown, salt: unknown, length: unknown, options: unknown, callback?: unknown) {
      const [settings, done] = typeof options === 'function' ? [{}, options] : [options, callback];
      const question = scrypt(password, salt, length, settings ?? {});
      callBack(done, later(question));
    },
    hkdfSync: (...args: Args) => arithmetic.bytes(hkdf(...args)).buffer,
    hkdf(hash: unknown, key: unknown, salt: unknown, info: unknown, length: unknown, callback?: unknown) {
      const question = hkdf(hash, key, salt, info, length);
      callBack(
        callback,
        Promise.resolve().then(() => arithmetic.bytes(question).buffer),
      );
    },
  };
}

/** Reads an option that has two names. Only one of them may be given. */
function either(options: ScryptOptions, short: 'N' | 'r' | 'p', long: 'cost' | 'blockSize' | 'parallelization') {
  const [one, other] = [options[short], options[long]];
  if (one !== undefined) checkInteger(one, short, 0, 2 ** 32 - 1);
  if (other === undefined) return one;
  if (one !== undefined) {
    const message = `Option "${short}" cannot be used in combination with option "${long}"`;
    throw nodeError('ERR_INCOMPATIBLE_OPTION_PAIR', message, TypeError);
  }
  checkInteger(other, long, 0, 2 ** 32 - 1);
  return other;
}
