import { z } from 'zod';
import type { Chain, ChainPace } from '../../src/chains/chain.ts';
import type {
  AccountSequences,
  AttemptReplacement,
  BroadcastOutcome,
  ChainClient,
  ChainHead,
  LaneCommitments,
  ObservedTransaction,
  ParsedRequest,
  ReadyPreparation,
  RelayerAccount,
  ReplacementPreparation,
  ReplacementSpec,
  SignedBytes,
  TransactionObservation,
  TransactionPreparation,
} from '../../src/chains/chain-client.ts';
import { invalidRequest } from '../../src/domain/errors.ts';
import type { JsonObject, WireObject } from '../../src/domain/json/json.ts';
import type { RpcOutcome } from '../../src/egress/rpc/rpc-client.ts';
import { type Anchor, sequenceOf } from '../../src/features/transactions/records/anchor.ts';
import type { Attempt } from '../../src/features/transactions/records/attempt.ts';
import type { Transaction } from '../../src/features/transactions/records/transaction.ts';
import type { Signer } from '../../src/signers/signer.ts';
import { type FakeChain, type FakeTransaction, hashOf } from './fake-chain.ts';
import { FakeWire, LyingEndpoint } from './fake-wire.ts';

/** The family of {@link FakeChain}: a request is `{ effect, cost?, reverts?, validUntil? }`. */
export class FakeFamily implements Chain {
  readonly type = 'evm';
  readonly curve = 'secp256k1';
  readonly unit = 'wei';
  readonly sequence = {
    name: 'nonce',
    statusKey: 'nonce',
    description: 'Of the fake',
    failure: { type: 'NonceSyncFailed', text: 'Nonce synchronization failed' },
    isLookedUp: true,
  };
  readonly policySchema: z.ZodType<JsonObject> = z.record(z.string(), z.json());
  readonly description = { name: 'Fake', policies: {}, signing: {} };
  readonly networkSchema: z.ZodType<JsonObject> = z.record(z.string(), z.json());
  readonly builtInNetworks: JsonObject[] = [];
  readonly marketUrl = () => null;
  readonly relays = () => [];
  readonly pace: ChainPace = { lifetimeMs: 8 * 3_600_000, anchors: { sequence: 256 } };

  addressOf(publicKey: Uint8Array): string {
    return `0x${Buffer.from(publicKey).toString('hex')}`;
  }

  policyView(policies: JsonObject): WireObject | undefined {
    return Object.keys(policies).length === 0 ? undefined : policies;
  }

  minimumBalance(policies: JsonObject): bigint {
    return BigInt(String(policies['min_balance'] ?? 1));
  }

  parseRequest(body: unknown, _account: RelayerAccount, now: number): ParsedRequest {
    const parsed = requestSchema.safeParse(body);
    if (!parsed.success) throw invalidRequest('missing field `effect`');
    const { validUntil = null, ...request } = parsed.data;
    if (validUntil !== null && validUntil <= now) throw invalidRequest('The validUntil time cannot be in the past');
    return { request, validUntil, anchorKind: 'sequence', onDeath: 'end', contentKey: null };
  }

  transactionView(transaction: Transaction): WireObject {
    const { id, hash, status, statusReason, sequence } = transaction;
    return { id, hash, status, status_reason: statusReason, nonce: sequence };
  }

  failedInBlock({ status, fields }: Transaction): boolean {
    return status === 'mined' && fields['failed'] === true;
  }

  costOf({ request }: Pick<Transaction, 'request'>): bigint {
    return BigInt(String(request['cost'] ?? 1));
  }

  /** A request moves its cost to its effect. Only the network reports its fee. */
  readonly spending = {
    spendOf: ({ effect, cost }: JsonObject) => ({
      recipient: effect === CREATION ? null : String(effect),
      selector: effect === CREATION ? null : String(effect).slice(0, 1),
      value: BigInt(String(cost ?? 1)),
      fee: null,
      beyond: null,
    }),
    spentBy: ({ request, status }: Transaction) => ({
      value: status === 'confirmed' ? BigInt(String(request['cost'] ?? 1)) : 0n,
      fee: status === 'confirmed' ? 1n : 0n,
    }),
    recipient: { read: (text: string) => (text === '' ? undefined : text.toLowerCase()), expected: 'a name' },
    selector: { read: (text: string) => (text.length === 1 ? text : undefined), expected: 'a call' },
    withoutRecipient: 'the creation of a contract',
  };

  withDistinctBytes(fields: JsonObject): JsonObject {
    return { ...fields, variation: Number(fields['variation'] ?? 0) + 1 };
  }

  takesSignedBytes(method: string): boolean {
    return method.startsWith('eth_sendRawTransaction');
  }

  connect(): ChainClient {
    throw new Error('the harness connects');
  }
}

const requestSchema = z.object({
  effect: z.string(),
  cost: z.string().default('1'),
  reverts: z.boolean().default(false),
  validUntil: z.number().optional(),
});

/** What counts as creating a contract. */
const CREATION = 'create';

/** False outcomes for bytes that a node would have taken, returned in turn. */
const LIES = [
  'refused',
  'anchor-used',
  'refused',
  'anchor-ahead',
  'refused',
  'underpriced',
  'fee-too-low',
  'busy',
] as const;

/** The effect of a transaction that does nothing. */
export const VOID = 'nothing';

/** The request for it. */
const NOTHING = { effect: VOID, cost: '0', reverts: false };

/** One relayer's client of a {@link FakeChain}, with the faults that the chain is set to show. */
export class FakeChainClient implements ChainClient {
  readonly #chain: FakeChain;
  readonly #wire: FakeWire;
  readonly #liar = new LyingEndpoint(LIES);
  #toldHigh = false;
  identityText = '31337';
  /** Overrides the result of `prepare`. */
  onPrepare: ((transaction: Transaction) => TransactionPreparation | undefined) | undefined;
  /** Overrides the result of `replacement.prepare` for an attempt. */
  onPrepareVersion: ((prepared: ReadyPreparation & { request: JsonObject }) => ReplacementPreparation) | undefined;
  /** The most that a version pays, unless it does nothing. */
  cap: bigint | null = null;
  patience = 60_000;

  constructor(chain: FakeChain) {
    this.#chain = chain;
    this.#wire = new FakeWire((call, raw) => chain.fault(call, raw));
  }

  /** How many calls have reached the chain or got lost. */
  get calls(): number {
    return this.#wire.calls;
  }

  identity(_expected?: string, onServed?: (host: string, chain: string) => void): Promise<string> {
    return this.#wire.ask('identity', () => {
      onServed?.('fake.example', this.identityText);
      return this.identityText;
    });
  }

  balance(_address: string): Promise<bigint> {
    return this.#wire.ask('balance', () => this.#chain.balance);
  }

  readonly sequences: AccountSequences = {
    next: (address) => {
      const truth = () => this.#chain.pendingCount(address);
      return this.#wire.ask('nextSequence', truth, () => this.#falseCount(truth()));
    },
    noopRequest: () => ({ ...NOTHING }),
  };

  readonly replacement: AttemptReplacement = {
    can: () => true,
    prepare: (entry, version, lane) => this.#prepareReplacement(entry, version, lane),
    check: (request) => {
      if (request['effect'] === 'forbidden') throw invalidRequest('This cannot be done in its place');
    },
    patienceMs: () => this.patience,
  };

  /** Returns a false count, in turn too high and too low: endpoints do not invent the same count again and again. */
  #falseCount(truth: bigint): bigint {
    this.#toldHigh = !this.#toldHigh;
    return this.#toldHigh ? truth + 1_000_000n : truth / 2n;
  }

  moment(): Promise<ChainHead> {
    return this.#wire.ask('moment', () => ({ height: BigInt(this.#chain.height), at: this.#chain.time() }));
  }

  prepare(transaction: Transaction, _account: RelayerAccount, lane: LaneCommitments): Promise<TransactionPreparation> {
    return this.#wire.ask('prepare', () => {
      const cost = BigInt(String(transaction.request['cost'] ?? 1));
      const override = this.onPrepare?.(transaction);
      if (override !== undefined) return override;
      if (this.#chain.balance < lane.committed + cost) {
        return { kind: 'parked', reason: 'Insufficient balance', cause: 'balance', retryInMs: 0 };
      }
      return { kind: 'ready', fields: { price: String(this.#chain.floor) }, cost };
    });
  }

  #prepareReplacement(
    { transaction, attempts }: ObservedTransaction,
    version: ReplacementSpec,
    _lane: LaneCommitments,
  ): Promise<ReplacementPreparation> {
    return this.#wire.ask('prepareVersion', () => {
      const paid = attempts.map(({ fields }) => BigInt(String(fields['price'])));
      const dearest = paid.reduce((most, price) => (price > most ? price : most), 0n);
      const bumped = (dearest * 11n) / 10n > dearest ? (dearest * 11n) / 10n : dearest + 1n;
      const price = bumped > this.#chain.floor ? bumped : this.#chain.floor;
      if (version.purpose !== 'noop' && this.cap !== null && price > this.cap) {
        return { kind: 'parked', reason: 'the price is above the cap' };
      }
      const request = requestOf(version, transaction);
      const cost = BigInt(String(request['cost'] ?? 1));
      if (this.#chain.balance < cost) return { kind: 'parked', reason: 'Insufficient balance' };
      const prepared = { kind: 'ready', request, fields: { price: String(price) }, cost } as const;
      return this.onPrepareVersion?.(prepared) ?? prepared;
    });
  }

  async sign(transaction: Transaction, fields: JsonObject, anchor: Anchor, signer: Signer): Promise<SignedBytes> {
    await signer.sign('secp256k1', new Uint8Array(32));
    const signed: FakeTransaction = {
      from: transaction.lane.split(':')[2] ?? '',
      nonce: String(sequenceOf(anchor)),
      effect: String(transaction.request['effect']),
      cost: String(transaction.request['cost'] ?? 1),
      reverts: transaction.request['reverts'] === true,
      price: String(fields['price']),
      ...(fields['variation'] === undefined ? {} : { variation: Number(fields['variation']) }),
    };
    const raw = JSON.stringify(signed);
    return { raw, hash: hashOf(raw), fields: { ...fields, signature: 'signed' } };
  }

  broadcast(attempts: readonly Attempt[]): Promise<BroadcastOutcome[]> {
    const offer = ({ raw }: Attempt) =>
      this.#wire.offer(
        raw,
        () => this.#chain.submit(raw),
        () => this.#liar.outcomeOf(raw),
      );
    return Promise.all(attempts.map(offer));
  }

  observe(entries: readonly ObservedTransaction[]): Promise<TransactionObservation[]> {
    const blind = () => entries.map((): TransactionObservation => ({ kind: 'open' }));
    return this.#wire.ask('observe', () => entries.map((entry) => this.#observeOne(entry)), blind);
  }

  signTransaction(body: unknown): Promise<WireObject> {
    return Promise.resolve({ signed: JSON.stringify(body) });
  }

  rpc(body: unknown): Promise<RpcOutcome> {
    return Promise.resolve({ jsonrpc: '2.0', result: body as JsonObject });
  }

  #observeOne({ transaction, attempts }: ObservedTransaction): TransactionObservation {
    for (const { hash } of attempts) {
      const found = this.#chain.find(hash);
      if (found !== undefined) {
        const reason = found.reverts ? 'Transaction reverted on-chain' : null;
        return {
          kind: 'included',
          hash,
          succeeded: !found.reverts,
          final: found.final,
          reason,
          fields: { block: found.block, ...(found.reverts && { failed: true }) },
        };
      }
    }
    const from = transaction.lane.split(':')[2] ?? '';
    const sequence = transaction.sequence ?? 0n;
    const used = this.#chain.finalCount(from);
    return used > sequence
      ? { kind: 'dead', anchor: 'used', reason: `Nonce ${sequence} consumed externally (on-chain nonce: ${used}).` }
      : { kind: 'open' };
  }
}

function requestOf(version: ReplacementSpec, transaction: Transaction): JsonObject {
  if (version.purpose === 'bump') return transaction.request;
  return version.purpose === 'replace' ? version.request : { ...NOTHING };
}
