import type { BinaryLike, KeyObject } from 'node:crypto';
import { nodeCrypto } from '../node-builtins.ts';
import { describeCryptoKey } from './asymmetric.ts';
import { type CryptoQuestionFields, CryptoRefusal } from './question-fields.ts';
import { type SeededChance, seededPair, seededRsaPair } from './seeded.ts';

const MAX_PASSWORD_BYTES = 65_536;
const MAX_DERIVED_BYTES = 65_536;
const MAX_ROUNDS = 2 ** 31 - 1;
const MAX_MEMORY_BYTES = 160 * 1_048_576;
const MAX_BITS = 4096;
const MIN_BITS = 512;
const OPERATIONS = ['pbkdf2', 'scrypt', 'hkdf', 'key-pair'] as const;

/** Time of one PBKDF2 round, in milliseconds: with a hash that the processor supports, and with another hash. */
const ROUND_MS = 0.0008;
const SLOW_ROUND_MS = 0.002;
const QUICK_HASH = /^(rsa-)?(sha-?(1|224|256|384|512)|md5)$/i;
/** Time of scrypt in milliseconds, per unit of cost × block size × parallel runs. */
const SCRYPT_MS = 0.0003;
/** Average time to find RSA keys with so many bits. */
const KEYS_MS: readonly (readonly [bits: number, ms: number])[] = [
  [1024, 20],
  [2048, 100],
  [3072, 500],
  [MAX_BITS, 1500],
];

/** Work that may take long, ready to start. */
export interface SlowCryptoWork {
  /** About how long it will take on a usual machine, in milliseconds. */
  readonly ms: number;
  /** Memory that it takes beside its result. */
  readonly memoryBytes: number;
  /** Does the work now, on this thread. */
  run(): Buffer | string;
  /** Does the work on another thread. */
  start(done: (error: unknown, result?: Buffer | string) => void): void;
}

/** Reads a question into work, without starting it. */
export function createSlowCryptoWork(question: CryptoQuestionFields, chance?: SeededChance): SlowCryptoWork {
  switch (question.one('op', OPERATIONS)) {
    case 'pbkdf2':
      return pbkdf2Work(question);
    case 'scrypt':
      return scryptWork(question);
    case 'hkdf':
      return hkdfWork(question);
    case 'key-pair':
      return keyPairWork(question, chance);
  }
}

function pbkdf2Work(question: CryptoQuestionFields): SlowCryptoWork {
  const { pbkdf2, pbkdf2Sync, getHashes, hash: digest } = nodeCrypto();
  const password = question.bytes('password', MAX_PASSWORD_BYTES);
  const salt = question.bytes('salt', MAX_PASSWORD_BYTES);
  const rounds = question.whole('iterations', MAX_ROUNDS);
  const length = question.whole('length', MAX_DERIVED_BYTES);
  const hash = question.text('hash');
  const isKnown = getHashes().some((known) => known.toLowerCase() === hash.toLowerCase());
  const blockBytes = isKnown && !/shake/i.test(hash) ? digest(hash, '', 'buffer').length : 16;
  const perRound = QUICK_HASH.test(hash) ? ROUND_MS : SLOW_ROUND_MS;
  return {
    ms: rounds * Math.ceil(length / blockBytes) * perRound,
    memoryBytes: 0,
    run: () => pbkdf2Sync(password, salt, rounds, length, hash),
    start: (done) => pbkdf2(password, salt, rounds, length, hash, done),
  };
}

function scryptWork(question: CryptoQuestionFields): SlowCryptoWork {
  const { scrypt, scryptSync } = nodeCrypto();
  const password = question.bytes('password', MAX_PASSWORD_BYTES);
  const salt = question.bytes('salt', MAX_PASSWORD_BYTES);
  const length = question.whole('length', MAX_DERIVED_BYTES);
  const [N, r, p] = (['cost', 'block', 'parallel'] as const).map((name) => question.whole(name, MAX_ROUNDS)) as [
    number,
    number,
    number,
  ];
  const maxmem = question.whole('memory', Number.MAX_SAFE_INTEGER);
  const memoryBytes = 128 * (N * r + r * p);
  // Node itself refuses work beyond the caller's own limit, with its own message.
  if (memoryBytes <= maxmem && memoryBytes > MAX_MEMORY_BYTES) {
    throw new CryptoRefusal(`scrypt would take ${memoryBytes} bytes of memory; ${MAX_MEMORY_BYTES} are allowed`);
  }
  const options = { N, r, p, maxmem };
  return {
    ms: N * r * p * SCRYPT_MS,
    memoryBytes: Math.min(memoryBytes, MAX_MEMORY_BYTES),
    run: () => scryptSync(password, salt, length, options),
    start: (done) => scrypt(password, salt, length, options, done),
  };
}

function hkdfWork(question: CryptoQuestionFields): SlowCryptoWork {
  const { hkdf, hkdfSync } = nodeCrypto();
  const [key, salt, info] = (['key', 'salt', 'info'] as const).map((name) =>
    question.bytes(name, MAX_PASSWORD_BYTES),
  ) as [Buffer, Buffer, Buffer];
  const hash = question.text('hash');
  const length = question.whole('length', MAX_DERIVED_BYTES);
  return {
    ms: 0,
    memoryBytes: 0,
    run: () => Buffer.from(hkdfSync(hash, key as BinaryLike, salt, info, length)),
    start: (done) => hkdf(hash, key, salt, info, length, (error, made) => done(error, made && Buffer.from(made))),
  };
}

const USUAL_EXPONENT = 65_537;

interface PairOptions {
  modulusLength?: number;
  publicExponent?: number;
  namedCurve?: string;
}

interface Pair {
  publicKey: KeyObject;
  privateKey: KeyObject;
}

function keyPairWork(question: CryptoQuestionFields, chance: SeededChance | undefined): SlowCryptoWork {
  const { generateKeyPair, generateKeyPairSync } = nodeCrypto();
  const kind = question.one('kind', ['rsa', 'ec', 'ed25519', 'x25519']);
  const options: PairOptions =
    kind === 'rsa' ? rsaOptions(question) : kind === 'ec' ? { namedCurve: question.text('curve') } : {};
  const bits = options.modulusLength ?? 0;
  const described = ({ publicKey, privateKey }: Pair) =>
    `[${describeCryptoKey(publicKey)},${describeCryptoKey(privateKey)}]`;
  const ms = KEYS_MS.find(([most]) => bits <= most)?.[1] ?? 0;
  if (chance !== undefined && kind === 'rsa') {
    const search = seededRsaPair(bits, options.publicExponent ?? USUAL_EXPONENT, chance);
    return {
      ms,
      memoryBytes: 0,
      run: () => described(search.run()),
      start: (done) => search.start((error, pair) => done(error, pair && described(pair))),
    };
  }
  if (chance !== undefined) {
    const run = () => described(seededPair(kind, options.namedCurve, chance));
    const start: SlowCryptoWork['start'] = (done) => {
      const made = run();
      setImmediate(() => done(null, made));
    };
    return { ms, memoryBytes: 0, run, start };
  }
  // Node's types have a separate signature for each kind, but the kind is known only at run time.
  const any = kind as 'rsa';
  const settings = options as { modulusLength: number };
  return {
    ms,
    memoryBytes: 0,
    run: () => described(generateKeyPairSync(any, settings)),
    start: (done) =>
      generateKeyPair(any, settings, (error, publicKey, privateKey) =>
        error === null ? done(null, described({ publicKey, privateKey })) : done(error),
      ),
  };
}

function rsaOptions(question: CryptoQuestionFields): PairOptions {
  const modulusLength = question.whole('bits', Number.MAX_SAFE_INTEGER);
  if (modulusLength > MAX_BITS || modulusLength < MIN_BITS)
    throw new CryptoRefusal(`Keys of RSA have from ${MIN_BITS} to ${MAX_BITS} bits here`);
  const publicExponent = question.optionalWhole('exponent', 2 ** 32 - 1);
  return publicExponent === undefined ? { modulusLength } : { modulusLength, publicExponent };
}
