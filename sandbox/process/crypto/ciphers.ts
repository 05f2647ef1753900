import type { CipherCCM, CipherGCMTypes, DecipherCCM } from 'node:crypto';
import type { CipherStep } from '../../guest/node/crypto/crypto-question.ts';
import { nodeCrypto } from '../node-builtins.ts';
import { type CryptoQuestionFields, CryptoRefusal, clearOpenSslErrors } from './question-fields.ts';
import type { GivenChance, SeededChance } from './seeded.ts';

/** How many unfinished ciphers a call may have; each takes about a kilobyte. */
const MAX_OPEN = 128;
const MAX_KEY_BYTES = 1024;
const MAX_IV_BYTES = 1024;
const MAX_TAG_BYTES = 16;
/** Longest data of one step. A step must be short enough to end within a slice. */
const MAX_STEP_BYTES = 1_048_576;
/** The same for ciphers that take a hundred times as long for each byte. */
const MAX_SLOW_BYTES = 65_536;
const SLOW = /cfb1$|cfb8$|wrap|^des3?|siv$/;
const STEPS: readonly CipherStep[] = ['update', 'aad', 'tag', 'padding', 'final'];

/** The methods that all of Node's ciphers have, though its types name them only for some. */
type AnyCipher = CipherCCM & DecipherCCM;

interface Open {
  readonly cipher: AnyCipher;
  readonly decrypts: boolean;
  readonly authenticates: boolean;
  readonly mostBytes: number;
}

/** The unfinished ciphers of one call, or of one module during its evaluation. */
export class OpenCiphers {
  readonly #open = new Map<number, Open>();
  #made = 0;

  get size(): number {
    return this.#open.size;
  }

  /**
   * Begins a cipher.
   * @returns the new cipher's number
   */
  begin(question: CryptoQuestionFields, chance?: SeededChance): string {
    const name = question.text('cipher');
    const decrypts = question.whole('decrypt', 1) === 1;
    if (chance !== undefined && !decrypts) mustDrawNothing(name);
    const open: Open = {
      cipher: cipherNamed(name, decrypts, question),
      decrypts,
      authenticates: authenticates(name),
      mostBytes: mostBytes(name),
    };
    if (this.#open.size >= MAX_OPEN) {
      const message = `More than ${MAX_OPEN} ciphers are begun and not ended by final()`;
      throw new CryptoRefusal(message);
    }
    this.#made += 1;
    this.#open.set(this.#made, open);
    return String(this.#made);
  }

  /**
   * Performs one step of a cipher.
   * @returns the cipher's output; after the last output the tag, if the cipher encrypts and authenticates
   */
  step(question: CryptoQuestionFields): Buffer {
    const id = question.whole('id', Number.MAX_SAFE_INTEGER);
    const open = this.#open.get(id);
    if (open === undefined)
      throw new CryptoRefusal('The cipher no longer exists: it ended with the call that began it');
    const { cipher } = open;
    const data = question.bytes('data', open.mostBytes);
    switch (question.one('step', STEPS)) {
      case 'update':
        return cipher.update(data);
      case 'aad': {
        const plaintextLength = question.optionalWhole('length', MAX_STEP_BYTES);
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
        clearOpenSslErrors();
        return Buffer.concat([cipher.final(), tagOf(open)]);
    }
  }

  /** Safe to call twice. */
  clear(): void {
    this.#open.clear();
  }
}

const NOTHING = Buffer.alloc(0);
/** For ciphers other than CCM, which need no length. CCM without a length reports the error itself. */
const NO_LENGTH = {} as { plaintextLength: number };

/** Encrypts or decrypts all data at once. The tag, if there is one, follows the data. */
export function runCipherAtOnce(question: CryptoQuestionFields, { chance }: GivenChance): Buffer {
  const name = question.text('cipher');
  const decrypts = question.one('op', ['encrypt', 'decrypt']) === 'decrypt';
  if (chance !== undefined && !decrypts) mustDrawNothing(name);
  const tagBytes = question.whole('tag', MAX_TAG_BYTES);
  const data = question.bytes('data', SLOW.test(name) ? MAX_SLOW_BYTES : undefined);
  const aad = question.bytes('aad');
  const cipher = cipherNamed(name, decrypts, question);
  if (aad.length > 0) cipher.setAAD(aad, NO_LENGTH);
  if (!decrypts) {
    const sealed = [cipher.update(data), cipher.final()];
    return Buffer.concat(tagBytes > 0 ? [...sealed, cipher.getAuthTag()] : sealed);
  }
  const cut = data.length - tagBytes;
  if (cut < 0) throw new CryptoRefusal('The data is shorter than its tag');
  if (tagBytes > 0) cipher.setAuthTag(data.subarray(cut));
  return Buffer.concat([cipher.update(data.subarray(0, cut)), cipher.final()]);
}

function cipherNamed(name: string, decrypts: boolean, question: CryptoQuestionFields): AnyCipher {
  const { createCipheriv, createDecipheriv } = nodeCrypto();
  const key = question.bytes('key', MAX_KEY_BYTES);
  const iv = question.optionalBytes('iv', MAX_IV_BYTES) ?? null;
  const authTagLength = question.optionalWhole('tag', MAX_TAG_BYTES);
  const options = authTagLength === undefined || authTagLength === 0 ? undefined : { authTagLength };
  const create = decrypts ? createDecipheriv : createCipheriv;
  return create(name as CipherGCMTypes, key, iv as Buffer, options) as unknown as AnyCipher;
}

/** Wrapping keys with Triple DES (RFC 3217) is the one cipher that draws its own vector. */
function mustDrawNothing(name: string): void {
  if (/des.*wrap/i.test(name)) throw new CryptoRefusal(`A durable call cannot encrypt with ${name}`);
}

function tagOf({ cipher, decrypts, authenticates }: Open): Buffer {
  return decrypts || !authenticates ? NOTHING : cipher.getAuthTag();
}

function authenticates(name: string): boolean {
  return /gcm$|ccm$|ocb$|poly1305$|siv$/i.test(name);
}

function mostBytes(name: string): number {
  return SLOW.test(name.toLowerCase()) ? MAX_SLOW_BYTES : MAX_STEP_BYTES;
}
