import type { ECDHKeyFormat, KeyObject, SigningOptions } from 'node:crypto';
import type { RsaUse } from '../../guest/node/crypto/crypto-question.ts';
import { nodeCrypto } from '../late-modules.ts';
import { privateKey, publicKey } from './key-material.ts';
import { type Question, Refusal } from './question.ts';

/** For each use of RSA other than signatures, the function that reads its key. */
const USES = {
  publicEncrypt: publicKey,
  privateDecrypt: privateKey,
  privateEncrypt: privateKey,
  publicDecrypt: publicKey,
} as const satisfies Record<RsaUse, (question: Question) => KeyObject>;
const MAX_PADDING = 6;
const MAX_CONTEXT_BYTES = 255;
const MAX_LABEL_BYTES = 4096;
const MAX_SIGNATURE_BYTES = 4096;
const MAX_POINT_BYTES = 512;
const YES = Buffer.from([1]);
const NO = Buffer.from([0]);

/** Makes a signature, or checks one and returns the answer as a byte. */
export function sign(question: Question): Buffer {
  const { sign: signed, verify } = nodeCrypto();
  const hash = question.optional('hash');
  const data = question.bytes('data');
  if (question.one('op', ['sign', 'verify']) === 'sign') {
    return signed(hash, data, { key: privateKey(question), ...optionsOf(question) });
  }
  const signature = question.bytes('signature', MAX_SIGNATURE_BYTES);
  return verify(hash, data, { key: publicKey(question), ...optionsOf(question) }, signature) ? YES : NO;
}

function optionsOf(question: Question): SigningOptions & { context?: Buffer } {
  const options: SigningOptions & { context?: Buffer } = {};
  const padding = question.optionalWhole('padding', MAX_PADDING);
  const saltLength = question.optionalWhole('salt', 65_536, -3);
  const context = question.optionalBytes('context', MAX_CONTEXT_BYTES);
  if (padding !== undefined) options.padding = padding;
  if (saltLength !== undefined) options.saltLength = saltLength;
  if (question.optional('encoding') !== undefined) {
    options.dsaEncoding = question.one<'der' | 'ieee-p1363'>('encoding', ['der', 'ieee-p1363']);
  }
  if (context !== undefined) options.context = context;
  return options;
}

/** Encrypts or decrypts with RSA itself. */
export function rsa(question: Question): Buffer {
  const use = question.one('use', Object.keys(USES) as RsaUse[]);
  const padding = question.whole('padding', MAX_PADDING);
  const oaepHash = question.optional('hash');
  const oaepLabel = question.optionalBytes('label', MAX_LABEL_BYTES);
  const options = {
    key: USES[use](question),
    padding,
    ...(oaepHash === undefined ? {} : { oaepHash }),
    ...(oaepLabel === undefined ? {} : { oaepLabel }),
  };
  return nodeCrypto()[use](options, question.bytes('data', MAX_SIGNATURE_BYTES));
}

/** Computes the shared secret of two keys of one kind. */
export function agree(question: Question): Buffer {
  return nodeCrypto().diffieHellman({
    privateKey: privateKey(question),
    publicKey: publicKey(question, 'peer'),
  });
}

/**
 * Works with points of a curve by their bytes, as Node's class `ECDH` does. It returns a new key; the public key of a
 * private key, after the private key's own bytes; the shared secret of a key and a point; or a point in another form.
 */
export function point(question: Question): Buffer | string {
  const { createECDH, ECDH, getCurves } = nodeCrypto();
  const curve = question.text('curve');
  if (!getCurves().includes(curve)) throw new Refusal(`Invalid EC curve name: ${curve}`.slice(0, 100));
  const key = question.optionalBytes('key', MAX_POINT_BYTES);
  const peer = question.optionalBytes('peer', MAX_POINT_BYTES);
  if (key === undefined && peer !== undefined) {
    const form = question.one<ECDHKeyFormat>('form', ['compressed', 'uncompressed', 'hybrid']);
    return ECDH.convertKey(peer, curve, undefined, undefined, form);
  }
  const ecdh = createECDH(curve);
  if (key === undefined) ecdh.generateKeys();
  else ecdh.setPrivateKey(key);
  if (peer !== undefined) return ecdh.computeSecret(peer);
  return `${ecdh.getPrivateKey('base64')} ${ecdh.getPublicKey('base64')}`;
}
