import { Asset, Keypair, Operation, type Transaction, type TransactionBuilder, type xdr } from '@stellar/stellar-sdk';
import type { Test } from 'tap';
import type { ContractDeployments } from '../../src/chains/chain.ts';
import { createStellarChain } from '../../src/chains/stellar/index.ts';
import type { JsonObject } from '../../src/domain/json/json.ts';
import { createKeySigner } from '../../src/signers/held-key.ts';
import { Scenario, type ScenarioGrounds } from './scenario.ts';
import { LUMEN, type StellarScene } from './stellar-scene.ts';
import { temporaryStore } from './store.ts';
import { TravelClock } from './travel-clock.ts';

export interface StellarScenarioOptions {
  policies?: JsonObject;
  /** The nodes; absent: the network's first. */
  urls?: readonly string[];
  /** The relayer's balance in stroops. Default: 100 lumens. Null: the account does not exist. */
  stroops?: bigint | null;
  /** The relayer's key; absent: a new one. */
  keys?: Keypair;
  deployments?: ContractDeployments;
}

/** One relayer of a network that closes ledgers only when told to. */
export class StellarScenario extends Scenario {
  readonly scene: StellarScene;
  readonly relayer: Keypair;
  /** Who is paid. */
  readonly payee: Keypair;

  constructor(scene: StellarScene, relayer: Keypair, payee: Keypair, grounds: ScenarioGrounds) {
    super(grounds);
    this.scene = scene;
    this.relayer = relayer;
    this.payee = payee;
  }

  /**
   * Opens a scenario with an account that no other test uses at the same time. Everything but the network ends with the
   * test.
   */
  static async open(t: Test, scene: StellarScene, options: StellarScenarioOptions = {}): Promise<StellarScenario> {
    const { policies = {}, urls = [scene.net.url], stroops = 100n * LUMEN, keys: relayer = Keypair.random() } = options;
    if (stroops !== null) await scene.net.fund(relayer.publicKey(), stroops);
    const clock = new TravelClock();
    const { store, remove } = await temporaryStore(clock);
    const chain = createStellarChain();
    const scenario = new StellarScenario(scene, relayer, await scene.funded(), {
      // The service's pace, faster.
      chain: { ...chain, pace: { ...chain.pace, reofferMs: 300, lookMs: 20 } },
      identity: scene.net.passphrase,
      settings: { average_blocktime_ms: 100, horizon_url: scene.net.horizonUrl, is_testnet: true },
      deployments: options.deployments,
      policies: { fee_payment_strategy: 'relayer', ...policies },
      address: relayer.publicKey(),
      signer: createKeySigner('test', Buffer.from(relayer.rawSecretKey())),
      timing: undefined,
      urls,
      store,
      clock,
    });
    t.teardown(async () => {
      await scenario.end();
      await remove();
      await scene.net.clearFaults();
    });
    await scenario.declare();
    return scenario;
  }

  async advance(): Promise<void> {
    await this.scene.net.tick();
  }

  /** Sends a lumen to the payee, or the given request. Resolves with its id. */
  send(body: object = {}): Promise<string> {
    return this.request({ network: 'local', operations: [this.#payment()], ...body });
  }

  #payment(): object {
    const destination = this.payee.publicKey();
    return { type: 'payment', destination, amount: String(LUMEN), asset: { type: 'native' } };
  }

  /** The payee's balance, in lumens. */
  async received(): Promise<bigint> {
    return ((await this.scene.balanceOf(this.payee.publicKey())) - 100n * LUMEN) / LUMEN;
  }

  /** A payment of one lumen to the payee, signed by `client` and valid for so many seconds of the chain's time. */
  async signedBy(client: Keypair, seconds = 300): Promise<Transaction> {
    const pays: xdr.Operation = Operation.payment({
      destination: this.payee.publicKey(),
      amount: '1',
      asset: Asset.native(),
    });
    const end = (await this.chainTime()) + seconds;
    return this.scene.signed(client, [pays], { with: (one: TransactionBuilder) => one.setTimebounds(0, end) });
  }

  /** When the last ledger closed, in Unix seconds. */
  async chainTime(): Promise<number> {
    const { closeTime } = (await this.scene.net.rpc('getLatestLedger')) as { closeTime: string };
    return Number(closeTime);
  }

  /** How many of a transaction's attempts are on the chain. */
  async executions(id: string): Promise<number> {
    const hashes = new Set((await this.attempts(id)).map(({ hash }) => hash));
    return (await this.scene.net.landed()).filter(({ hash }) => hashes.has(hash)).length;
  }
}
