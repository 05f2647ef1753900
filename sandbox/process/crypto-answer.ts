import type { CryptoQuestion } from '../guest/host-function.ts';
import { nodeCrypto } from './late-modules.ts';

/** Longest question, in characters; more would hold up the process for longer than a slice. */
const MOST_CHARACTERS = 24 * 1_048_576;
const HASHES: ReadonlyMap<string, string> = new Map([
  ['SHA-1', 'sha1'],
  ['SHA-256', 'sha256'],
  ['SHA-384', 'sha384'],
  ['SHA-512', 'sha512'],
  // As Node's own module names them.
  ...['blake2b512', 'blake2s256', 'md5', 'ripemd160', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'].map(itself),
  ...['sha512-224', 'sha512-256', 'sha3-224', 'sha3-256', 'sha3-384', 'sha3-512'].map(itself),
]);

function itself(name: string): [string, string] {
  return [name, name];
}
const AES_KEY_BYTES = [16, 24, 32] as const;

/**
 * Does a guest's arithmetic with Node's own implementation. Everything that chooses code is looked up here; what comes
 * from the guest is data only.
 * @returns `=` and base64, or `""` when the question is not understood or its data does not verify
 */
export function answerCryptoQuestion(text: string): string {
  if (text.length > MOST_CHARACTERS) return '';
  try {
    return `=${answer(JSON.parse(text) as CryptoQuestion).toString('base64')}`;
  } catch {
    return '';
  }
}

function answer(question: CryptoQuestion): Buffer {
  const { createCipheriv, createDecipheriv, createHmac, hash } = nodeCrypto();
  const data = bytes(question.data);
  switch (question.op) {
    case 'digest':
      return hash(hashNamed(question.hash), data, 'buffer');
    case 'hmac':
      return createHmac(hashNamed(question.hash), bytes(question.key)).update(data).digest();
    case 'encrypt': {
      const cipher = createCipheriv(aesFor(question.key), bytes(question.key), bytes(question.iv), tagOf(question));
      cipher.setAAD(bytes(question.aad));
      return Buffer.concat([cipher.update(data), cipher.final(), cipher.getAuthTag()]);
    }
    case 'decrypt': {
      const options = tagOf(question);
      const cut = data.length - options.authTagLength;
      if (cut < 0) throw new Error('shorter than its tag');
      const decipher = createDecipheriv(aesFor(question.key), bytes(question.key), bytes(question.iv), options);
      decipher.setAAD(bytes(question.aad));
      decipher.setAuthTag(data.subarray(cut));
      return Buffer.concat([decipher.update(data.subarray(0, cut)), decipher.final()]);
    }
    default:
      throw new Error(`no such operation: ${String(question satisfies never)}`);
  }
}

function tagOf({ tag }: { tag: number }): { authTagLength: number } {
  return { authTagLength: tag / 8 };
}

function aesFor(key: string) {
  const length = AES_KEY_BYTES.find((known) => known === bytes(key).length);
  if (length === undefined) throw new Error('no such length of a key');
  return `aes-${(length * 8) as 128 | 192 | 256}-gcm` as const;
}

function hashNamed(name: string): string {
  const found = HASHES.get(name);
  if (found === undefined) throw new Error(`no such hash: ${name}`);
  return found;
}

/** The type says so, but the guest wrote it: of an object with a length, Buffer would make that many bytes. */
function bytes(text: unknown): Buffer {
  if (typeof text !== 'string') throw new Error('no text');
  return Buffer.from(text, 'base64');
}
