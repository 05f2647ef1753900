import type { CryptoQuestion } from '../../guest/node/crypto/crypto-question.ts';
import { nodeCrypto } from '../node-builtins.ts';
import { computeOaep, computeSharedSecret, computeSignature, readCryptoKey, writeCryptoKey } from './asymmetric.ts';
import { type OpenCiphers, runCipherAtOnce } from './ciphers.ts';
import { CryptoQuestionFields, CryptoRefusal, clearOpenSslErrors, cryptoFailureOf } from './question-fields.ts';
import type { GivenChance, SeededChance } from './seeded.ts';
import { createSlowCryptoWork, type SlowCryptoWork } from './slow-work.ts';

/** Longest question, in characters. A longer one would hold up the process for longer than a slice. */
const MAX_CHARACTERS = 24 * 1_048_576;
const MAX_HASH_BYTES = 65_536;
/** OpenSSL's names of hashes, by Web Cryptography's names. */
const HASHES: ReadonlyMap<string, string> = new Map([
  ['SHA-1', 'sha1'],
  ['SHA-256', 'sha256'],
  ['SHA-384', 'sha384'],
  ['SHA-512', 'sha512'],
]);

/** The resources for answering a question. */
export interface CryptoResources extends GivenChance {
  readonly ciphers: OpenCiphers;
  /**
   * Time left of the guest's present stretch, in whole milliseconds.
   * @param wantedMs how much of it would be taken
   */
  leftMs(wantedMs: number): number;
}

type Answer = Buffer | string;
type Operation = CryptoQuestion['op'];

const OPERATIONS: { readonly [op in Operation]: (question: CryptoQuestionFields, room: CryptoResources) => Answer } = {
  digest,
  hmac: (question) =>
    nodeCrypto().createHmac(hashNamed(question), question.bytes('key')).update(question.bytes('data')).digest(),
  encrypt: runCipherAtOnce,
  decrypt: runCipherAtOnce,
  cipher: (question, { ciphers, chance }) => ciphers.begin(question, chance),
  step: (question, { ciphers }) => ciphers.step(question),
  sign: computeSignature,
  verify: computeSignature,
  oaep: computeOaep,
  agree: computeSharedSecret,
  'read-key': readCryptoKey,
  'write-key': writeCryptoKey,
  names,
  pbkdf2: atOnce,
  scrypt: atOnce,
  hkdf: atOnce,
  'key-pair': atOnce,
};

/**
 * Answers a guest's cryptographic question with Node's own implementation. The guest sends data only; names that select
 * code are looked up here. Each question carries its keys as bytes, so no key can be mistaken for another.
 * @returns as {@link CryptoQuestion} says
 */
export function answerCryptoQuestion(text: string, room: CryptoResources): string {
  return cryptoAnswerText(() => {
    const question = parse(text);
    const op = question.one('op', Object.keys(OPERATIONS) as Operation[]);
    return OPERATIONS[op](question, room);
  });
}

/**
 * Reads a question whose work is to run on another thread.
 * @param mostMs processor time that the call may still take
 * @throws Refusal, and Node's own errors about the question
 */
export function readSlowCryptoWork(text: string, mostMs: number, chance?: SeededChance): SlowCryptoWork {
  const work = createSlowCryptoWork(parse(text), chance);
  if (work.ms > mostMs) throw new CryptoRefusal(tooLong(work.ms, mostMs, 'the call may take (limits.cpu_ms)'));
  return work;
}

/** Returns the result of `make`, or the error it threw, as text. */
export function cryptoAnswerText(make: () => Answer): string {
  try {
    const answer = make();
    return typeof answer === 'string' ? `:${answer}` : `=${answer.toString('base64')}`;
  } catch (error) {
    return cryptoFailureText(error);
  }
}

/** The answer for an error. */
export function cryptoFailureText(error: unknown): string {
  clearOpenSslErrors();
  const failure = cryptoFailureOf(error);
  return failure === undefined ? '' : `!${JSON.stringify(failure)}`;
}

function parse(text: string): CryptoQuestionFields {
  if (text.length > MAX_CHARACTERS) throw new CryptoRefusal('The data is too large for one operation');
  try {
    return new CryptoQuestionFields(JSON.parse(text));
  } catch {
    throw new CryptoRefusal('The question is none');
  }
}

function digest(question: CryptoQuestionFields): Buffer {
  const { createHash } = nodeCrypto();
  const outputLength = question.optionalWhole('length', MAX_HASH_BYTES);
  const hash = createHash(hashNamed(question), outputLength === undefined ? undefined : { outputLength });
  return hash.update(question.bytes('data')).digest();
}

function hashNamed(question: CryptoQuestionFields): string {
  const name = question.text('hash');
  return HASHES.get(name) ?? name;
}

function atOnce(question: CryptoQuestionFields, { chance, leftMs }: CryptoResources): Answer {
  const work = createSlowCryptoWork(question, chance);
  const left = leftMs(work.ms);
  if (work.ms > left) {
    throw new CryptoRefusal(
      `${tooLong(work.ms, left, 'are left of this stretch (limits.slice_ms)')}: use the form with a callback`,
    );
  }
  return work.run();
}

function tooLong(ms: number, mostMs: number, which: string): string {
  return `It would take about ${Math.ceil(ms)} ms, and ${mostMs} ms ${which}`;
}

function names(question: CryptoQuestionFields): string {
  const { getCiphers, getHashes, constants } = nodeCrypto();
  const lists = { hashes: getHashes, ciphers: getCiphers, constants: () => constants };
  return JSON.stringify(lists[question.one('of', ['hashes', 'ciphers', 'constants'])]());
}
