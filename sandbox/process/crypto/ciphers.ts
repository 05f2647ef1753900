import type { CipherCCM, CipherGCMTypes, DecipherCCM } from 'node:crypto';
import type { CipherStep } from '../../guest/node/crypto/crypto-question.ts';
import { nodeCrypto } from '../late-modules.ts';
import { forgetErrors, type Question, Refusal } from './question.ts';

/** Ciphers that may be half done at once; each takes about a kilobyte. */
const MOST_OPEN = 128;
const MOST_KEY_BYTES = 1024;
const MOST_IV_BYTES = 1024;
const MOST_TAG_BYTES = 16;
/** Data of one step: a slice must not end within one. */
const MOST_STEP_BYTES = 1_048_576;
/** Of those that take a hundred times as long for each byte. */
const MOST_SLOW_BYTES = 65_536;
const SLOW = /cfb1$|cfb8$|wrap|^des3?|siv$/;
const STEPS: readonly CipherStep[] = ['update', 'aad', 'tag', 'padding', 'final'];

/** What Node's types know for some ciphers only, and its ciphers have all. */
type AnyCipher = CipherCCM & DecipherCCM;

interface Open {
  readonly cipher: AnyCipher;
  readonly decrypts: boolean;
  readonly authenticates: boolean;
  readonly mostBytes: number;
}

/** The ciphers that one call, or one module that is evaluated, has begun and not ended. */
export class OpenCiphers {
  readonly #open = new Map<number, Open>();
  #made = 0;

  get size(): number {
    return this.#open.size;
  }

  /** @returns the number of a new one */
  begin(question: Question): string {
    const name = question.text('cipher');
    const decrypts = question.whole('decrypt', 1) === 1;
    const open: Open = {
      cipher: cipherNamed(name, decrypts, question),
      decrypts,
      authenticates: authenticates(name),
      mostBytes: mostBytes(name),
    };
    if (this.#open.size >= MOST_OPEN) {
      const message = `More than ${MOST_OPEN} ciphers are begun and not ended by final()`;
      throw new Refusal(message);
    }
    this.#made += 1;
    this.#open.set(this.#made, open);
    return String(this.#made);
  }

  /** @returns what the cipher gives; behind the last of it the tag, where it encrypts and authenticates */
  step(question: Question): Buffer {
    const id = question.whole('id', Number.MAX_SAFE_INTEGER);
    const open = this.#open.get(id);
    if (open === undefined) throw new Refusal('The cipher is not there any more: it ended with the call that began it');
    const { cipher } = open;
    const data = question.bytes('data', open.mostBytes);
    switch (question.one('step', STEPS)) {
      case 'update':
        return cipher.update(data);
      case 'aad': {
        const plaintextLength = question.optionalWhole('length', MOST_STEP_BYTES);
        cipher.setAAD(data, plaintextLength === undefined ? NO_LENGTH : { plaintextLength });
        return NOTHING;
      }
      case 'tag':
        cipher.setAuthTag(data);
        return NOTHING;
      case 'padding':
        cipher.setAutoPadding(data.length > 0);
        return NOTHING;
      case 'final':
        this.#open.delete(id);
        forgetErrors();
        return Buffer.concat([cipher.final(), tagOf(open)]);
    }
  }

  /** Safe to call twice. */
  clear(): void {
    this.#open.clear();
  }
}

const NOTHING = Buffer.alloc(0);
/** Only CCM asks for it, and says so. */
const NO_LENGTH = {} as { plaintextLength: number };

/** The whole of a cipher at one go; its tag, where it has one, stands behind the data. */
export function seal(question: Question): Buffer {
  const name = question.text('cipher');
  const decrypts = question.one('op', ['encrypt', 'decrypt']) === 'decrypt';
  const tagBytes = question.whole('tag', MOST_TAG_BYTES);
  const data = question.bytes('data', SLOW.test(name) ? MOST_SLOW_BYTES : undefined);
  const aad = question.bytes('aad');
  const cipher = cipherNamed(name, decrypts, question);
  if (aad.length > 0) cipher.setAAD(aad, NO_LENGTH);
  if (!decrypts) {
    const sealed = [cipher.update(data), cipher.final()];
    return Buffer.concat(tagBytes > 0 ? [...sealed, cipher.getAuthTag()] : sealed);
  }
  const cut = data.length - tagBytes;
  if (cut < 0) throw new Refusal('The data is shorter than its tag');
  if (tagBytes > 0) cipher.setAuthTag(data.subarray(cut));
  return Buffer.concat([cipher.update(data.subarray(0, cut)), cipher.final()]);
}

function cipherNamed(name: string, decrypts: boolean, question: Question): AnyCipher {
  const { createCipheriv, createDecipheriv } = nodeCrypto();
  const key = question.bytes('key', MOST_KEY_BYTES);
  const iv = question.optionalBytes('iv', MOST_IV_BYTES) ?? null;
  const authTagLength = question.optionalWhole('tag', MOST_TAG_BYTES);
  const options = authTagLength === undefined || authTagLength === 0 ? undefined : { authTagLength };
  const create = decrypts ? createDecipheriv : createCipheriv;
  return create(name as CipherGCMTypes, key, iv as Buffer, options) as unknown as AnyCipher;
}

function tagOf({ cipher, decrypts, authenticates }: Open): Buffer {
  return decrypts || !authenticates ? NOTHING : cipher.getAuthTag();
}

function authenticates(name: string): boolean {
  return /gcm$|ccm$|ocb$|poly1305$|siv$/i.test(name);
}

function mostBytes(name: string): number {
  return SLOW.test(name.toLowerCase()) ? MOST_SLOW_BYTES : MOST_STEP_BYTES;
}
