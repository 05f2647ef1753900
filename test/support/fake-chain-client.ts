import { z } from 'zod';
import type {
  Account,
  BroadcastOutcome,
  Chain,
  ChainClient,
  ChainMoment,
  LaneFigures,
  NewVersion,
  Observation,
  ObservedEntry,
  ParsedRequest,
  Preparation,
  ReadyPreparation,
  SequenceAt,
  SignedVersion,
  VersionPreparation,
} from '../../src/chains/chain.ts';
import { AppError, invalidRequest } from '../../src/domain/errors.ts';
import type { JsonObject, WireObject } from '../../src/domain/json.ts';
import type { Attempt, Transaction } from '../../src/domain/transaction.ts';
import type { RpcOutcome } from '../../src/egress/rpc-client.ts';
import type { Signer } from '../../src/signers/signer.ts';
import { type FakeChain, type FakeTransaction, hashOf } from './fake-chain.ts';

/** The family of {@link FakeChain}: a request is `{ effect, cost?, reverts?, validUntil? }`. */
export class FakeFamily implements Chain {
  readonly type = 'evm';
  readonly curve = 'secp256k1';
  readonly unit = 'wei';
  readonly counter = { statusKey: 'nonce', failure: 'NonceSyncFailed' } as const;
  readonly policySchema: z.ZodType<JsonObject> = z.record(z.string(), z.json());
  readonly networkSchema: z.ZodType<JsonObject> = z.record(z.string(), z.json());
  readonly builtInNetworks: JsonObject[] = [];
  readonly lifetimeMs = 8 * 3_600_000;

  addressOf(publicKey: Uint8Array): string {
    return `0x${Buffer.from(publicKey).toString('hex')}`;
  }

  policyView(policies: JsonObject): WireObject | undefined {
    return Object.keys(policies).length === 0 ? undefined : policies;
  }

  minimumBalance(policies: JsonObject): bigint {
    return BigInt(String(policies['min_balance'] ?? 1));
  }

  parseRequest(body: unknown, _account: Account, now: number): ParsedRequest {
    const parsed = requestSchema.safeParse(body);
    if (!parsed.success) throw invalidRequest('missing field `effect`');
    const { validUntil = null, ...request } = parsed.data;
    if (validUntil !== null && validUntil <= now) throw invalidRequest('The validUntil time cannot be in the past');
    return { request, validUntil };
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

  /** A request moves its cost to its effect; its fee is told by nobody but the network. */
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
    recipient: (text: string) => (text === '' ? undefined : text.toLowerCase()),
    selector: (text: string) => (text.length === 1 ? text : undefined),
  };

  vary(fields: JsonObject): JsonObject {
    return { ...fields, variation: Number(fields['variation'] ?? 0) + 1 };
  }

  voidRequest(): JsonObject {
    return { effect: VOID, cost: '0', reverts: false };
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

/** What is said in turn of bytes that a node would have taken. */
const LIES = [
  'refused',
  'sequence-used',
  'refused',
  'sequence-ahead',
  'refused',
  'underpriced',
  'fee-too-low',
  'busy',
] as const;

/** How often the same bytes are refused in a lie, at most. */
const FALSE_REFUSALS = 2;

/** The effect of a transaction that does nothing. */
export const VOID = 'nothing';

/** One relayer's way to a {@link FakeChain}, with the faults that the chain is told to show. */
export class FakeChainClient implements ChainClient {
  readonly #chain: FakeChain;
  /** How often each of the bytes was refused in a lie. */
  readonly #refusals = new Map<string, number>();
  #lies = 0;
  identityText = '31337';
  /** How many calls have reached the chain or got lost. */
  calls = 0;
  /** Overrides what `prepare` says. */
  onPrepare: ((transaction: Transaction) => Preparation | undefined) | undefined;
  /** Overrides what `prepareVersion` says of a version that it would have. */
  onPrepareVersion: ((prepared: ReadyPreparation & { request: JsonObject }) => VersionPreparation) | undefined;
  /** The most that a version pays, unless it does nothing. */
  cap: bigint | null = null;
  patience = 60_000;

  constructor(chain: FakeChain) {
    this.#chain = chain;
  }

  identity(_expected?: string, onServed?: (host: string, chain: string) => void): Promise<string> {
    return this.#ask('identity', () => {
      onServed?.('fake.example', this.identityText);
      return this.identityText;
    });
  }

  balance(_address: string): Promise<bigint> {
    return this.#ask('balance', () => this.#chain.balance);
  }

  nextSequence(address: string): Promise<bigint> {
    const truth = () => this.#chain.pendingCount(address);
    return this.#ask('nextSequence', truth, () => (this.calls % 2 === 0 ? truth() / 2n : truth() + 1_000_000n));
  }

  moment(): Promise<ChainMoment> {
    return this.#ask('moment', () => ({ height: BigInt(this.#chain.height), at: this.#chain.time() }));
  }

  /** Nothing that was final is ever lost here, but what was said to be used may never have been. */
  hasLost(address: string, _identity: string, { sequence }: SequenceAt): Promise<boolean> {
    return this.#ask('hasLost', () => this.#chain.minedCount(address) < sequence);
  }

  isNoFurther(address: string, _identity: string, { sequence }: SequenceAt): Promise<boolean> {
    return this.#ask('isNoFurther', () => this.#chain.minedCount(address) <= sequence);
  }

  prepare(transaction: Transaction, _account: Account, lane: LaneFigures): Promise<Preparation> {
    return this.#ask('prepare', () => {
      const cost = BigInt(String(transaction.request['cost'] ?? 1));
      const override = this.onPrepare?.(transaction);
      if (override !== undefined) return override;
      if (this.#chain.balance < lane.committed + cost) {
        return { kind: 'parked', reason: 'Insufficient balance', cause: 'balance', retryInMs: 0 };
      }
      return { kind: 'ready', fields: { price: String(this.#chain.floor) }, cost };
    });
  }

  prepareVersion(
    { transaction, attempts }: ObservedEntry,
    version: NewVersion,
    _lane: LaneFigures,
  ): Promise<VersionPreparation> {
    return this.#ask('prepareVersion', () => {
      const paid = attempts.map(({ fields }) => BigInt(String(fields['price'])));
      const dearest = paid.reduce((most, price) => (price > most ? price : most), 0n);
      const bumped = (dearest * 11n) / 10n > dearest ? (dearest * 11n) / 10n : dearest + 1n;
      const price = bumped > this.#chain.floor ? bumped : this.#chain.floor;
      if (version.purpose !== 'void' && this.cap !== null && price > this.cap) {
        return { kind: 'parked', reason: 'the price is above the cap' };
      }
      const request = requestOf(version, transaction);
      const cost = BigInt(String(request['cost'] ?? 1));
      if (this.#chain.balance < cost) return { kind: 'parked', reason: 'Insufficient balance' };
      const prepared = { kind: 'ready', request, fields: { price: String(price) }, cost } as const;
      return this.onPrepareVersion?.(prepared) ?? prepared;
    });
  }

  checkReplacement(request: JsonObject): void {
    if (request['effect'] === 'forbidden') throw invalidRequest('This cannot be done in its place');
  }

  patienceMs(): number {
    return this.patience;
  }

  async sign(transaction: Transaction, fields: JsonObject, sequence: bigint, signer: Signer): Promise<SignedVersion> {
    await signer.sign('secp256k1', new Uint8Array(32));
    const signed: FakeTransaction = {
      from: transaction.lane.split(':')[2] ?? '',
      nonce: sequence.toString(),
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
    return Promise.all(attempts.map((attempt) => this.#offer(attempt)));
  }

  async #offer({ raw }: Attempt): Promise<BroadcastOutcome> {
    try {
      const lie = () => {
        const kind = LIES[this.#lies++ % LIES.length] ?? 'busy';
        return { kind: kind === 'refused' && !this.#mayRefuse(raw) ? 'busy' : kind, reason: 'a lie' } as const;
      };
      return await this.#ask('broadcast', () => this.#chain.submit(raw), lie, raw);
    } catch (error) {
      return { kind: 'unknown', reason: error instanceof Error ? error.message : String(error) };
    }
  }

  /** All endpoints do not lie for long, so the same bytes are not refused again and again without a cause. */
  #mayRefuse(raw: string): boolean {
    const times = this.#refusals.get(raw) ?? 0;
    this.#refusals.set(raw, times + 1);
    return times < FALSE_REFUSALS;
  }

  observe(entries: readonly ObservedEntry[]): Promise<Observation[]> {
    const blind = () => entries.map((): Observation => ({ kind: 'waiting' }));
    return this.#ask('observe', () => entries.map((entry) => this.#observeOne(entry)), blind);
  }

  signTransaction(body: unknown): Promise<WireObject> {
    return Promise.resolve({ signed: JSON.stringify(body) });
  }

  rpc(body: unknown): Promise<RpcOutcome> {
    return Promise.resolve({ jsonrpc: '2.0', result: body as JsonObject });
  }

  #observeOne({ transaction, attempts }: ObservedEntry): Observation {
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
      ? { kind: 'displaced', reason: `Nonce ${sequence} consumed externally (on-chain nonce: ${used}).` }
      : { kind: 'waiting' };
  }

  async #ask<T>(call: string, answer: () => T, lie: () => T = answer, raw?: string): Promise<T> {
    await new Promise((resolve) => setImmediate(resolve));
    const fault = this.#chain.fault(call, raw);
    if (fault === 'request-lost') {
      this.calls += 1;
      throw failed(call);
    }
    const result = fault === 'lie' ? lie() : answer();
    this.calls += 1;
    await new Promise((resolve) => setImmediate(resolve));
    if (fault === 'answer-lost') throw failed(call);
    return result;
  }
}

function requestOf(version: NewVersion, transaction: Transaction): JsonObject {
  if (version.purpose === 'bump') return transaction.request;
  return version.purpose === 'replace' ? version.request : { effect: VOID, cost: '0', reverts: false };
}

function failed(call: string): AppError {
  return new AppError('PROVIDER_FAILED', { network: 'fake', reason: `${call} timed out` });
}
