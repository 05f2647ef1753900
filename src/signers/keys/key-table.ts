import { type HeldKey, holdKey, KeyFault } from '../held-key.ts';
import { openKeystoreFile } from '../keystore.ts';
import type { KeySource } from '../signer.ts';
import type { KeyThreadResponse, KeyThreadResult, KeyUse } from './key-thread.ts';

/**
 * The keys of the process, by their numbers. They live in a thread of their own. No other part of the process has them.
 */
export class KeyTable {
  readonly #keys = new Map<number, HeldKey>();
  /** Keys that were forgotten while they were being opened. */
  readonly #unwanted = new Set<number>();
  readonly #opening = new Set<number>();

  /** Opens a key. Signing goes on while a file is read and a key is derived. Never rejects. */
  async open(key: number, material: KeySource): Promise<KeyThreadResponse> {
    this.#opening.add(key);
    try {
      const held = holdKey(await bytesOf(material));
      this.#keys.set(key, held);
      const mark = Buffer.from(held.publicKey('ed25519')).toString('hex');
      return { kind: 'opened', key, mark };
    } catch (error) {
      return { kind: 'unopened', key, reason: reasonOf(error) };
    } finally {
      this.#opening.delete(key);
      if (this.#unwanted.delete(key)) this.forget(key);
    }
  }

  use(uses: readonly KeyUse[]): KeyThreadResult[] {
    return uses.map(({ key, curve, payload }) => {
      try {
        const held = this.#keys.get(key);
        if (held === undefined) throw new KeyFault('it is closed');
        return { bytes: payload === null ? held.publicKey(curve) : held.sign(curve, payload) };
      } catch (error) {
        return { reason: reasonOf(error) };
      }
    });
  }

  /** Wipes a key, also one that is being opened. */
  forget(key: number): void {
    if (this.#opening.has(key)) this.#unwanted.add(key);
    this.#keys.get(key)?.wipe();
    this.#keys.delete(key);
  }

  forgetAll(): void {
    for (const key of [...this.#keys.keys(), ...this.#opening]) this.forget(key);
  }
}

async function bytesOf(material: KeySource): Promise<Uint8Array> {
  if (material.kind === 'key') return material.bytes;
  try {
    return await openKeystoreFile(material.path, material.passphrase);
  } finally {
    material.passphrase.fill(0);
  }
}

/** The reason that may be shown. A library's message is not passed on: the library was given keys. */
function reasonOf(error: unknown): string {
  if (error instanceof KeyFault) return error.message;
  return `an error where the keys are (${error instanceof Error ? error.name : 'unknown'})`;
}
