import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { StrKey, xdr } from '@stellar/stellar-sdk';
import { masterKeyOf } from '../ledger/address.ts';
import type { AccountEntry, AccountId } from '../ledger/entry.ts';
import { sha256 } from './frame.ts';

/** The bytes before the key in an SPKI public key, for Node. */
const SPKI_OF_ED25519 = Buffer.from('302a300506032b6570032100', 'hex');

interface Weighted {
  readonly key: xdr.SignerKey;
  readonly weight: number;
}

/** Checks the signatures of one envelope, and notes which of them were used. Like stellar-core's class of this name. */
export class SignatureChecker {
  readonly #hash: Buffer;
  readonly #signatures: readonly xdr.DecoratedSignature[];
  readonly #used: boolean[];

  constructor(hash: string, signatures: readonly xdr.DecoratedSignature[]) {
    this.#hash = Buffer.from(hash, 'hex');
    this.#signatures = signatures;
    this.#used = signatures.map(() => false);
  }

  /** Whether the signatures of the account's signers reach this weight. */
  checkAccount(account: AccountEntry, needed: number): boolean {
    const { master } = account.thresholds;
    const own = master > 0 ? [{ key: masterKeyOf(account.id), weight: master }] : [];
    const others = account.signers.map(({ key, weight }) => ({ key: xdr.SignerKey.fromXdr(key, 'base64'), weight }));
    return this.#check([...own, ...others], needed);
  }

  /** Whether the account's own key has signed. For accounts that do not exist yet. */
  checkKey(id: AccountId): boolean {
    return this.#check([{ key: masterKeyOf(id), weight: 1 }], 0);
  }

  /** Whether every extra signer has signed (CAP-21). */
  checkExtra(keys: readonly xdr.SignerKey[]): boolean {
    if (keys.length === 0) return true;
    return this.#check(
      keys.map((key) => ({ key, weight: 1 })),
      keys.length,
    );
  }

  get areAllUsed(): boolean {
    return this.#used.every(Boolean);
  }

  /** A needed weight of zero still requires one valid signature. */
  #check(signers: readonly Weighted[], needed: number): boolean {
    let weight = 0;
    for (const { key, weight: own } of signers) {
      if (key.type !== 'signerKeyTypePreAuthTx' || !this.#hash.equals(key.preAuthTx.toBytes())) continue;
      weight += own;
      if (weight >= needed) return true;
    }
    for (const type of ['signerKeyTypeHashX', 'signerKeyTypeEd25519', 'signerKeyTypeEd25519SignedPayload']) {
      const left = signers.filter(({ key }) => key.type === type);
      for (const [index, signature] of this.#signatures.entries()) {
        const place = left.findIndex(({ key }) => isBy(signature, key, this.#hash));
        if (place < 0) continue;
        this.#used[index] = true;
        weight += left[place]?.weight ?? 0;
        if (weight >= needed) return true;
        left.splice(place, 1);
      }
    }
    return false;
  }
}

function isBy({ hint, signature }: xdr.DecoratedSignature, key: xdr.SignerKey, hash: Buffer): boolean {
  const bytes = signature.toBytes();
  switch (key.type) {
    case 'signerKeyTypeHashX': {
      const wanted = key.hashX.toBytes();
      return hasHint(hint, wanted) && sha256(bytes).equals(wanted);
    }
    case 'signerKeyTypeEd25519': {
      const wanted = key.ed25519.toBytes();
      return hasHint(hint, wanted) && verifyEd25519(wanted, hash, bytes);
    }
    case 'signerKeyTypeEd25519SignedPayload': {
      const { ed25519, payload } = key.ed25519SignedPayload;
      const own = lastFour(ed25519.toBytes());
      const other = lastFour(payload);
      const mixed = own.map((byte, index) => byte ^ (other[index] ?? 0));
      return hasHint(hint, mixed) && verifyEd25519(ed25519.toBytes(), payload, bytes);
    }
    default:
      return false;
  }
}

const hasHint = (hint: xdr.SignatureHint, key: Uint8Array): boolean => lastFour(key).equals(hint.toBytes());

function lastFour(bytes: Uint8Array): Buffer {
  const last = Buffer.alloc(4);
  Buffer.from(bytes.subarray(-4)).copy(last);
  return last;
}

export function verifyEd25519(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== 64) return false;
  return verify(null, message, publicKeyOf(key), signature);
}

const known = new Map<string, KeyObject>();

function publicKeyOf(key: Uint8Array): KeyObject {
  const name = StrKey.encodeEd25519PublicKey(key);
  const cached = known.get(name);
  if (cached !== undefined) return cached;
  const made = createPublicKey({ key: Buffer.concat([SPKI_OF_ED25519, key]), format: 'der', type: 'spki' });
  known.set(name, made);
  return made;
}
