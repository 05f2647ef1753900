import * as node from 'node:crypto';
import { createParameters, type SubtleTools } from '../../guest/globals/subtle/algorithm.ts';
import { create as createKeyedCrypto } from '../../guest/lazy/node-keys.ts';
import { createSubtle } from '../../guest/lazy/subtle.ts';
import { createProcessCrypto } from '../../guest/node/crypto/process-crypto.ts';
import { OpenCiphers } from '../../process/crypto/ciphers.ts';
import { answerCryptoQuestion, type CryptoResources } from '../../process/crypto/crypto-answer.ts';
import { runtimeServices } from './guest-web.ts';

/**
 * The part of the guest's `node:crypto` that uses keys. The process's arithmetic runs in this thread. Typed as Node's
 * module.
 */
export function guestCrypto(): typeof node {
  const random = (bytes: number) => node.randomBytes(bytes).toString('latin1');
  return createKeyedCrypto({ ...runtimeServices(), random }) as unknown as typeof node;
}

/** The process's answer to a question, as a guest reads it: bytes, text, or the error's message. */
export function asked(question: unknown, room: Partial<CryptoResources> = {}): Buffer | string {
  const all = { ciphers: new OpenCiphers(), leftMs: () => 500, ...room };
  const answer = answerCryptoQuestion(JSON.stringify(question), all);
  if (answer.startsWith('=')) return Buffer.from(answer.slice(1), 'base64');
  if (answer.startsWith('!')) return `threw ${(JSON.parse(answer.slice(1)) as Error).message}`;
  return answer.slice(1);
}

export function base64(data: string | Uint8Array): string {
  return Buffer.from(data).toString('base64');
}

/** Keys of each kind, in the forms in which they cross the boundary. */
export function derOf(kind: 'ec' | 'ed25519' | 'x25519' | 'rsa', options: object = {}) {
  const { privateKey, publicKey } = node.generateKeyPairSync(kind as 'rsa', options as { modulusLength: number });
  return {
    privateKey,
    publicKey,
    key: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64'),
    peer: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
  };
}

/** Guest's Web Cryptography on the same arithmetic. */
export function guestSubtle() {
  const random = (bytes: number) => node.randomBytes(bytes).toString('latin1');
  return createSubtle({ ...runtimeServices(), DOMException: DOMException, random });
}

/** What its algorithms work with. */
export function subtleTools(): SubtleTools {
  const fail: SubtleTools['fail'] = (name, message) => new DOMException(message, name);
  return {
    fail,
    parameters: createParameters(fail),
    arithmetic: createProcessCrypto(runtimeServices()),
    random: (bytes) => new Uint8Array(node.randomBytes(bytes)),
  };
}
