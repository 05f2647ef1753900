import { generateKeyPairSync, sign } from 'node:crypto';
import { toBase58 } from './base58.ts';
import { keyBytes, SYSTEM } from './runtime.ts';
import { readTransaction, type WireTransaction } from './wire-transaction.ts';

const TRANSFER = 2;
const RICHES = 10n ** 18n;

/** The parts of the chain that the faucet uses. */
export interface Funded {
  readonly blocks: { readonly newest: { readonly hash: string } };
  fund(key: string, lamports: bigint): void;
}

/** The account behind `requestAirdrop`: it pays with transactions like any other. */
export class Faucet {
  readonly #chain: Funded;
  readonly #pair = generateKeyPairSync('ed25519');
  readonly #key = this.#pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  /** Makes each transaction different. */
  #paid = 0n;

  constructor(chain: Funded) {
    this.#chain = chain;
    chain.fund(toBase58(this.#key), RICHES);
  }

  /** Makes a signed transfer, without sending it. */
  transfer(to: string, lamports: bigint): WireTransaction {
    this.#paid += 1n;
    const { hash } = this.#chain.blocks.newest;
    const keys = [this.#key, keyBytes(to), keyBytes(SYSTEM), keyBytes('Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo')];
    const data = Buffer.alloc(12);
    data.writeUInt32LE(TRANSFER);
    data.writeBigUInt64LE(lamports, 4);
    const memo = Buffer.from(String(this.#paid));
    const message = Buffer.concat([
      Buffer.from([1, 0, 2, keys.length]),
      ...keys,
      keyBytes(hash),
      Buffer.from([2, 2, 2, 0, 1, data.length]),
      data,
      Buffer.from([3, 0, memo.length]),
      memo,
    ]);
    const signature = sign(null, message, this.#pair.privateKey);
    return readTransaction(Buffer.concat([Buffer.from([1]), signature, message]));
  }
}
