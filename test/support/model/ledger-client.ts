import { z } from 'zod';
import type { ChainPace } from '../../../src/chains/chain.ts';
import type {
  AccountSequences,
  AttemptReplacement,
  BroadcastOutcome,
  ChainClient,
  ChainHead,
  ObservedTransaction,
  ParsedRequest,
  ReplacementPreparation,
  SignedBytes,
  TransactionObservation,
  TransactionPreparation,
} from '../../../src/chains/chain-client.ts';
import type { JsonObject } from '../../../src/domain/json/json.ts';
import type { RpcOutcome } from '../../../src/egress/rpc/rpc-client.ts';
import { type Anchor, sequenceOf } from '../../../src/features/transactions/records/anchor.ts';
import type { Attempt } from '../../../src/features/transactions/records/attempt.ts';
import { accountOfLane } from '../../../src/features/transactions/records/lane.ts';
import type { Transaction } from '../../../src/features/transactions/records/transaction.ts';
import type { Signer } from '../../../src/signers/signer.ts';
import { hashOf } from '../fake-chain.ts';
import { FakeFamily } from '../fake-chain-client.ts';
import { FakeWire, LyingEndpoint } from '../fake-wire.ts';
import { type Envelope, innerHashOf, type LedgerChain, type Submission } from './ledger-chain.ts';

const envelopeSchema = z.object({
  source: z.string(),
  sequence: z.string(),
  does: z.string(),
  reverts: z.boolean(),
  fee: z.number(),
  until: z.number().nullable(),
});

const requestSchema = z.object({
  effect: z.string(),
  reverts: z.boolean().default(false),
  validUntil: z.number().optional(),
  /** The last ledger that the client allows for the service's transaction. */
  until: z.number().optional(),
  /** The entry that must be restored first, and whether restoring it fails. */
  needs: z.object({ what: z.string(), fails: z.boolean() }).optional(),
  /** The entry that it restores. */
  restores: z.string().optional(),
  /** An envelope that the client signed. The service only pays its fee. */
  inner: envelopeSchema.optional(),
});

/** The family of {@link LedgerChain}. */
export class LedgerFamily extends FakeFamily {
  override readonly pace: ChainPace = { lifetimeMs: 8 * 3_600_000, anchors: { sequence: 1, text: 100 } };

  override parseRequest(body: unknown): ParsedRequest {
    const { validUntil = null, ...request } = requestSchema.parse(body);
    const given = { request: request as JsonObject, validUntil };
    if (request.inner === undefined) return { ...given, anchorKind: 'sequence', onDeath: 'renew', contentKey: null };
    const onDeath = request.inner.until === null ? 'never' : 'end';
    return { ...given, anchorKind: 'text', onDeath, contentKey: innerHashOf(request.inner) };
  }
}

/** False outcomes that one endpoint returns for bytes that it could have taken. */
const LIES = ['refused', 'anchor-used', 'lapsed', 'refused', 'anchor-ahead', 'busy', 'refused', 'fee-too-low'] as const;

/** One relayer's client of a {@link LedgerChain}. */
export class LedgerClient implements ChainClient {
  readonly #chain: LedgerChain;
  readonly #wire: FakeWire;
  readonly #liar = new LyingEndpoint(LIES);
  #toldHigh = false;

  constructor(chain: LedgerChain) {
    this.#chain = chain;
    this.#wire = new FakeWire((call, raw) => chain.fault(call, raw));
  }

  get calls(): number {
    return this.#wire.calls;
  }

  identity(): Promise<string> {
    return this.#wire.ask('identity', () => '31337');
  }

  moment(): Promise<ChainHead> {
    return this.#wire.ask('moment', () => ({ height: BigInt(this.#chain.height), at: Date.now() }));
  }

  balance(): Promise<bigint> {
    return this.#wire.ask('balance', () => 10n ** 18n);
  }

  readonly sequences: AccountSequences = {
    next: (address) => {
      const truth = () => this.#chain.sequenceOf(address) + 1n;
      return this.#wire.ask('nextSequence', truth, () => this.#falseSequence(truth()));
    },
    noopRequest: () => ({ effect: 'nothing' }),
  };

  /** Returns a false sequence. Endpoints do not invent the same one again and again. */
  #falseSequence(truth: bigint): bigint {
    this.#toldHigh = !this.#toldHigh;
    return this.#toldHigh ? truth + 7n : truth / 2n;
  }

  readonly replacement: AttemptReplacement = {
    can: (_entry, purpose) => purpose === 'bump',
    prepare: ({ transaction, attempts }, { purpose }) =>
      this.#wire.ask('prepareVersion', (): ReplacementPreparation => {
        if (purpose !== 'bump') return { kind: 'refused', reason: 'Nothing can take its place' };
        const paid = Math.max(...attempts.map(({ fields }) => Number(fields['fee'])));
        const fields = { ...this.#terms(transaction.request), fee: Math.max(paid * 2, this.#chain.floor) };
        return { kind: 'ready', request: transaction.request, fields, cost: 1n };
      }),
    check: () => {},
    patienceMs: () => 60_000,
  };

  prepare({ request }: Transaction): Promise<TransactionPreparation> {
    return this.#wire.ask('prepare', () => this.#prepareOne(request));
  }

  #prepareOne(request: JsonObject): TransactionPreparation {
    const { needs, inner, until } = requestSchema.parse(request);
    const fields = this.#terms(request);
    if (inner !== undefined) {
      if (this.#chain.find(innerHashOf(inner)) !== undefined)
        return { kind: 'refused', reason: 'It is on a ledger already' };
      if (this.#chain.isLate(inner)) return { kind: 'refused', end: 'expired', reason: 'txTOO_LATE' };
      const anchor = { kind: 'text', text: `${inner.source}:${inner.sequence}` } as const;
      return { kind: 'ready', fields, cost: 1n, anchor };
    }
    if (until !== undefined && this.#chain.height >= until) {
      return { kind: 'refused', end: 'expired', reason: 'Its time bounds passed' };
    }
    if (needs !== undefined && !this.#chain.has(needs.what)) {
      const first = { effect: needs.what, restores: needs.what, reverts: needs.fails };
      const parsed = { request: first, validUntil: null, anchorKind: 'sequence', onDeath: 'renew' } as const;
      return { kind: 'first', first: { ...parsed, contentKey: null }, reason: `${needs.what} is archived` };
    }
    return { kind: 'ready', fields, cost: 1n };
  }

  /** The fee of an envelope that is made now, and its last ledger. */
  #terms({ until }: JsonObject): { fee: number; until: number } {
    const own = this.#chain.height + this.#chain.lasting;
    return { fee: this.#chain.floor, until: until === undefined ? own : Math.min(own, Number(until)) };
  }

  async sign({ lane, request }: Transaction, fields: JsonObject, anchor: Anchor, signer: Signer): Promise<SignedBytes> {
    await signer.sign('ed25519', new Uint8Array(32));
    const { inner, effect: does, reverts, restores } = requestSchema.parse(request);
    const source = accountOfLane(lane);
    const fee = Number(fields['fee']);
    const sequence = String(sequenceOf(anchor));
    const own = { source, sequence, does, reverts, fee, until: Number(fields['until']) };
    const submission: Submission =
      inner === undefined
        ? { inner: { ...own, ...(restores !== undefined && { restores }) } }
        : { inner, bump: { by: source, fee } };
    const raw = JSON.stringify(submission);
    return { raw, hash: hashOf(raw), fields };
  }

  broadcast(attempts: readonly Attempt[]): Promise<BroadcastOutcome[]> {
    const offer = ({ raw, request }: Attempt) =>
      this.#wire.offer(
        raw,
        () => this.#chain.submit(raw, String(request['effect'])),
        () => this.#liar.outcomeOf(raw),
      );
    return Promise.all(attempts.map(offer));
  }

  observe(entries: readonly ObservedTransaction[]): Promise<TransactionObservation[]> {
    const blind = () => entries.map((): TransactionObservation => ({ kind: 'open' }));
    return this.#wire.ask('observe', () => entries.map(({ attempts }) => this.#observeOne(attempts)), blind);
  }

  rpc(body: unknown): Promise<RpcOutcome> {
    return Promise.resolve({ jsonrpc: '2.0', result: body as JsonObject });
  }

  #observeOne(attempts: readonly Attempt[]): TransactionObservation {
    // Prefers the attempt that is on a ledger as it was sent. Otherwise takes the attempt whose envelope is there in
    // another form.
    const asSent = attempts.map(({ hash }) => ({ hash, found: this.#chain.find(hash) }));
    const carried = attempts.map(({ hash, raw }) => ({ hash, found: this.#chain.find(innerHashOf(innerOf(raw))) }));
    for (const { hash, found } of [...asSent, ...carried]) {
      if (found === undefined) continue;
      const { reverts } = found.inner;
      const told = { succeeded: !reverts, final: true, reason: reverts ? 'txFAILED' : null };
      return { kind: 'included', hash, ...told, fields: { executedAs: found.hash } };
    }
    const isUsed = ({ source, sequence }: Envelope) => this.#chain.sequenceOf(source) >= BigInt(sequence);
    if (attempts.every(({ raw }) => isUsed(innerOf(raw)))) return { kind: 'dead', anchor: 'used', reason: 'txBAD_SEQ' };
    const dead = attempts.filter(({ raw }) => isUsed(innerOf(raw)) || this.#chain.isLate(innerOf(raw)));
    return { kind: 'open', dead: dead.map(({ ordinal }) => ordinal) };
  }
}

function innerOf(raw: string): Envelope {
  return (JSON.parse(raw) as Submission).inner;
}
