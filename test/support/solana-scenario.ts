import { Keypair, PublicKey, Transaction, TransactionInstruction } from '@solana/web3.js';
import type { Test } from 'tap';
import { createSolanaChain } from '../../src/chains/solana/index.ts';
import type { Json, JsonObject, WireObject } from '../../src/domain/json/json.ts';
import type { MarketClient } from '../../src/egress/market-client.ts';
import type { RpcOutcome } from '../../src/egress/rpc/rpc-client.ts';
import type { EngineTiming } from '../../src/engine/timing.ts';
import { createKeySigner } from '../../src/signers/held-key.ts';
import { Scenario, type ScenarioGrounds } from './scenario.ts';
import { memo } from './solana-stage.ts';
import { temporaryStore } from './store.ts';
import type { SvmScene } from './svm-scene.ts';
import { TravelClock } from './travel-clock.ts';

const SOL = 1_000_000_000n;

export interface SolanaScenarioOptions {
  policies?: JsonObject;
  /** The nodes; absent: the SVM's first. */
  urls?: readonly string[];
  /** The relayer's balance in lamports. Default: 10 SOL. */
  lamports?: bigint;
  /** The market that prices and swaps tokens; absent: none. */
  market?: MarketClient;
  /** What differs from the pace of scenarios. */
  timing?: Partial<EngineTiming>;
  /** The relayer's key; absent: a new one. */
  keys?: Keypair;
}

/** One relayer of a real SVM that makes blocks only when told to. */
export class SolanaScenario extends Scenario {
  readonly scene: SvmScene;
  readonly relayer: PublicKey;
  #memos = 0;

  constructor(scene: SvmScene, relayer: PublicKey, grounds: ScenarioGrounds) {
    super(grounds);
    this.scene = scene;
    this.relayer = relayer;
  }

  /**
   * Opens a scenario with an account that no other test uses at the same time. Everything but the SVM ends with the
   * test.
   */
  static async open(t: Test, scene: SvmScene, options: SolanaScenarioOptions = {}): Promise<SolanaScenario> {
    const { policies = {}, urls = [scene.svm.url], lamports = 10n * SOL, keys = Keypair.generate() } = options;
    await scene.svm.airdrop(keys.publicKey.toBase58(), lamports);
    const clock = new TravelClock();
    const { store, remove } = await temporaryStore(clock);
    const chain = createSolanaChain();
    const scenario = new SolanaScenario(scene, keys.publicKey, {
      // The service's pace, faster.
      chain: { ...chain, pace: { ...chain.pace, reofferMs: 300, lookMs: 20 } },
      identity: String(await scene.svm.rpc('getGenesisHash')),
      settings: {},
      policies: { fee_payment_strategy: 'relayer', ...policies },
      address: keys.publicKey.toBase58(),
      signer: createKeySigner('test', Buffer.from(keys.secretKey.subarray(0, 32))),
      timing: options.timing,
      market: options.market,
      urls,
      store,
      clock,
    });
    t.teardown(async () => {
      await scenario.end();
      await remove();
      await scene.svm.clearFaults();
    });
    await scenario.declare();
    return scenario;
  }

  advance(): Promise<void> {
    return this.scene.svm.tick();
  }

  /** Sends a new memo, or the given request. Resolves with its id. */
  send(body: object = {}): Promise<string> {
    this.#memos += 1;
    return this.request({ instructions: [memo(`${this.address} ${this.#memos}`)], ...body });
  }

  /** Builds a transaction that the relayer pays for, in base64. The others sign it under the latest blockhash. */
  async built(others: readonly Keypair[], ...instructions: TransactionInstruction[]): Promise<string> {
    return this.#paidBy(this.relayer, others, instructions);
  }

  /** Builds an unsigned transaction that another account pays for. */
  builtFor(feePayer: PublicKey, ...instructions: TransactionInstruction[]): Promise<string> {
    return this.#paidBy(feePayer, [], instructions);
  }

  async #paidBy(feePayer: PublicKey, others: readonly Keypair[], instructions: readonly TransactionInstruction[]) {
    const latest = await this.scene.connection.getLatestBlockhash();
    const transaction = new Transaction({ feePayer, ...latest }).add(...instructions);
    if (others.length > 0) transaction.partialSign(...others);
    return transaction.serialize({ requireAllSignatures: false }).toString('base64');
  }

  /** Builds a transaction with only a memo, which no other account signs. */
  builtMemo(text: string): Promise<string> {
    const { program_id, data } = memo(text);
    const programId = new PublicKey(program_id);
    return this.built([], new TransactionInstruction({ programId, keys: [], data: Buffer.from(data, 'base64') }));
  }

  /** Returns the answer of the sign-transaction endpoint. */
  signOnly(transaction: string): Promise<WireObject> {
    return this.services.signing.signTransaction('r1', { transaction });
  }

  /** Returns the answer of the rpc endpoint. */
  call(method: string, params: Json): Promise<RpcOutcome> {
    return this.services.rpc.call('r1', { jsonrpc: '2.0', id: 1, method, params });
  }

  /** Builds a transaction as above and sends it in a request. */
  async sendBuilt(others: readonly Keypair[], ...instructions: TransactionInstruction[]): Promise<string> {
    return this.request({ transaction: await this.built(others, ...instructions) });
  }

  /** Sends a transaction under a durable nonce, whose owner signs it too. */
  async sendUnderNonce(
    { owner, instruction, value }: { owner: Keypair; instruction: TransactionInstruction; value: string },
    others: readonly Keypair[],
    ...instructions: TransactionInstruction[]
  ): Promise<string> {
    const transaction = new Transaction({ feePayer: this.relayer, blockhash: value, lastValidBlockHeight: 0 });
    transaction.add(instruction, ...instructions).partialSign(owner, ...others);
    const bytes = transaction.serialize({ requireAllSignatures: false });
    return this.request({ transaction: bytes.toString('base64') });
  }

  /** How many of a transaction's attempts the chain has executed. */
  async executions(id: string): Promise<number> {
    const hashes = new Set((await this.attempts(id)).map(({ hash }) => hash));
    return (await this.scene.svm.landed()).filter(({ signature }) => hashes.has(signature)).length;
  }

  /** Makes all existing blockhashes too old, and lets that become final. */
  async lapse(): Promise<void> {
    await this.scene.svm.expireBlockhashes();
    await this.scene.svm.tick(5);
  }

  /** In lamports. */
  balance(): Promise<number> {
    return this.scene.connection.getBalance(this.relayer);
  }
}
