import { randomBytes } from 'node:crypto';
import { Wallet } from 'ethers';
import type { Test } from 'tap';
import { createEvmChain } from '../../src/chains/evm/index.ts';
import type { JsonObject } from '../../src/domain/json/json.ts';
import type { EngineTiming } from '../../src/engine/timing.ts';
import type { Signer } from '../../src/signers/signer.ts';
import type { Store } from '../../src/store/store.ts';
import type { Anvil } from './anvil.ts';
import { identityAt, signerOf } from './evm.ts';
import { type NodeFront, startNodeFront } from './node-front.ts';
import { Scenario, type ScenarioGrounds } from './scenario.ts';
import { temporaryStore } from './store.ts';
import { TravelClock } from './travel-clock.ts';

const STRANGER = '0x00000000000000000000000000000000000fedcb';

export interface EvmScenarioOptions {
  /** Settings of the network entry. */
  settings?: JsonObject;
  policies?: JsonObject;
  timing?: Partial<EngineTiming>;
  /** The index of one of anvil's accounts, for tests that share a node. */
  account?: number;
  /** Makes the signer from the account's key. Absent: a signer in this process. */
  signer?: (privateKey: string) => Promise<Signer>;
  /** The store of another scenario on the same node. */
  store?: Store;
  /** How many endpoints the relayer has; absent: one. */
  endpoints?: number;
}

/** One relayer of a real node behind a front. */
export class EvmScenario extends Scenario {
  readonly anvil: Anvil;
  readonly front: NodeFront;
  /** All endpoints; the first is `front`. */
  readonly fronts: readonly NodeFront[];
  readonly wallet: Wallet;
  /** An account that has only what this scenario's account pays. */
  readonly payee = `0x${randomBytes(20).toString('hex')}`;

  constructor(anvil: Anvil, fronts: readonly NodeFront[], privateKey: string, grounds: ScenarioGrounds) {
    super(grounds);
    const [front] = fronts;
    if (front === undefined) throw new Error('no endpoint');
    this.anvil = anvil;
    this.front = front;
    this.fronts = fronts;
    this.wallet = new Wallet(privateKey);
  }

  /** Opens a scenario with an account that no other test uses at the same time. Everything ends with the test. */
  static async open(t: Test, anvil: Anvil, options: EvmScenarioOptions = {}): Promise<EvmScenario> {
    const { settings = {}, policies = {}, account: index = 0, timing } = options;
    const account = anvil.accounts[index];
    if (account === undefined) throw new Error(`anvil has no account ${index}`);
    const clock = new TravelClock();
    const fronts = await Promise.all(Array.from({ length: options.endpoints ?? 1 }, () => startNodeFront(anvil)));
    const own = options.store === undefined ? await temporaryStore(clock) : undefined;
    const store = options.store ?? own?.store;
    if (store === undefined) throw new Error('no store');
    const scenario = new EvmScenario(anvil, fronts, account.privateKey, {
      chain: createEvmChain(clock),
      identity: await identityAt(anvil.url),
      urls: fronts.map(({ url }) => url),
      // Prices stay valid for a quarter of a block.
      settings: { average_blocktime_ms: 40, ...settings },
      address: account.address,
      signer: (await options.signer?.(account.privateKey)) ?? signerOf(account),
      policies,
      store,
      clock,
      timing,
    });
    t.teardown(async () => {
      await scenario.end();
      await own?.remove();
      await Promise.all(fronts.map((front) => front.stop()));
    });
    await scenario.declare();
    return scenario;
  }

  /** Sends a payment of 7 wei; `body` replaces parts of it. Resolves with its id. */
  send(body: object = {}): Promise<string> {
    return this.request({ to: this.payee, value: 7, data: '0x', gas_limit: 21_000, speed: 'fast', ...body });
  }

  /** Sends `count` payments at once. Resolves with their ids. */
  sendMany(count: number, body: object = {}): Promise<string[]> {
    return Promise.all(Array.from({ length: count }, () => this.send(body)));
  }

  advance(): Promise<void> {
    return this.mine();
  }

  async mine(blocks = 1): Promise<void> {
    await this.anvil.rpc('anvil_mine', [`0x${blocks.toString(16)}`]);
  }

  /** Counts the account's used nonces: those in blocks, or also those in the pool. */
  async nonces(tag: 'latest' | 'pending' = 'latest'): Promise<number> {
    return Number(await this.anvil.rpc('eth_getTransactionCount', [this.address, tag]));
  }

  /** The payee's balance, in wei. */
  async paid(): Promise<bigint> {
    return BigInt(String(await this.anvil.rpc('eth_getBalance', [this.payee, 'latest'])));
  }

  /** Sends a transaction with the account's key from outside the service. */
  async useOutside(nonce: number, more: object = {}): Promise<string> {
    const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n };
    const transaction = {
      type: 2,
      chainId: 31_337,
      nonce,
      gasLimit: 21_000,
      to: STRANGER,
      value: 1n,
      ...fees,
      ...more,
    };
    return String(await this.anvil.rpc('eth_sendRawTransaction', [await this.wallet.signTransaction(transaction)]));
  }
}
