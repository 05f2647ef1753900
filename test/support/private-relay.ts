import { Transaction } from 'ethers';
import type { Anvil } from './anvil.ts';
import { type DoubleAnswer, type DoubleCall, startRpcDouble } from './rpc-double.ts';

const QUANTITY = /^0x([1-9a-f][0-9a-f]*|0)$/;

/**
 * A relay that keeps transactions private, on the wire of Flashbots Protect, MEV-Share and MEV Blocker:
 * `eth_sendRawTransaction`, and `eth_sendPrivateTransaction` with one object (`tx`, `maxBlockNumber`, `preferences`). It
 * refuses what they refuse: other methods, other parameters, bytes that are no transaction of its chain. It keeps what
 * it took to itself until the test has it build a block.
 */
export class PrivateRelay {
  readonly url: string;
  readonly #anvil: Pick<Anvil, 'rpc'>;
  readonly #calls: readonly DoubleCall[];
  readonly #held = new Map<string, Held>();
  readonly stop: () => Promise<void>;
  /** Whether the relay is down. */
  isDown = false;

  private constructor(
    anvil: Pick<Anvil, 'rpc'>,
    double: Pick<PrivateRelay, 'url' | 'stop'> & { calls: readonly DoubleCall[] },
  ) {
    this.#anvil = anvil;
    this.#calls = double.calls;
    this.url = double.url;
    this.stop = double.stop;
  }

  static async start(anvil: Pick<Anvil, 'rpc'>): Promise<PrivateRelay> {
    const double = await startRpcDouble((call) => relay.#answer(call));
    const relay: PrivateRelay = new PrivateRelay(anvil, {
      url: `${double.url}/key-1234567890`,
      calls: double.calls,
      stop: double.stop,
    });
    return relay;
  }

  /** What it took, by hash, in the order of the first arrival. */
  get held(): readonly Held[] {
    return [...this.#held.values()];
  }

  /** The calls of a method. */
  calls(method: string): readonly DoubleCall[] {
    return this.#calls.filter((call) => call.method === method);
  }

  /** Gives the dearest transaction of each nonce to the node, which puts them into a block. */
  async build(): Promise<void> {
    const best = new Map<string, Held>();
    for (const one of this.held) {
      const key = `${one.from} ${one.nonce}`;
      if (one.maxFeePerGas > (best.get(key)?.maxFeePerGas ?? -1n)) best.set(key, one);
    }
    for (const { raw } of [...best.values()].toSorted((one, other) => one.nonce - other.nonce)) {
      await this.#anvil.rpc('eth_sendRawTransaction', [raw]).catch(() => undefined);
    }
    await this.#anvil.rpc('anvil_mine', ['0x1']);
  }

  #answer({ method, params }: DoubleCall): DoubleAnswer {
    if (this.isDown) return { status: 502, body: 'bad gateway' };
    if (method === 'eth_sendRawTransaction') return this.#take(params.length === 1 ? params[0] : undefined, undefined);
    if (method !== 'eth_sendPrivateTransaction') {
      return { error: { code: -32_601, message: `the method ${method} does not exist/is not available` } };
    }
    const [only, ...others] = params;
    if (typeof only !== 'object' || only === null || others.length > 0) return invalid('expected one object');
    const { tx, maxBlockNumber, preferences, ...unknown } = only as Record<string, unknown>;
    const [extra] = Object.keys(unknown);
    if (extra !== undefined) return invalid(`unknown field ${extra}`);
    if (maxBlockNumber !== undefined && !QUANTITY.test(String(maxBlockNumber)))
      return invalid('invalid maxBlockNumber');
    if (preferences !== undefined && typeof preferences !== 'object') return invalid('invalid preferences');
    return this.#take(tx, maxBlockNumber === undefined ? undefined : Number(maxBlockNumber));
  }

  #take(raw: unknown, maxBlock: number | undefined): DoubleAnswer {
    let transaction: Transaction;
    try {
      transaction = Transaction.from(String(raw));
    } catch {
      return invalid('could not decode the transaction');
    }
    const { hash, from, nonce, chainId } = transaction;
    if (hash === null || from === null) return invalid('the transaction is not signed');
    if (chainId !== 31_337n) return invalid('invalid chain id for signer');
    const maxFeePerGas = transaction.maxFeePerGas ?? transaction.gasPrice ?? 0n;
    const value = { raw: String(raw), hash, from, nonce, to: transaction.to, maxFeePerGas, maxBlock };
    this.#held.set(hash, value);
    return { result: hash };
  }
}

/** A transaction that a relay holds. */
export interface Held {
  readonly raw: string;
  readonly hash: string;
  readonly from: string;
  readonly nonce: number;
  readonly to: string | null;
  readonly maxFeePerGas: bigint;
  /** The last block that the relay may try; undefined where none was given. */
  readonly maxBlock: number | undefined;
}

function invalid(message: string): DoubleAnswer {
  return { error: { code: -32_602, message } };
}
