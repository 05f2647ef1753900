import { z } from 'zod';
import type { ChainPace } from '../../../src/chains/chain.ts';
import type {
  BroadcastOutcome,
  ChainClient,
  ChainHead,
  ObservedTransaction,
  ParsedRequest,
  RelayerAccount,
  SignedBytes,
  TransactionObservation,
  TransactionPreparation,
} from '../../../src/chains/chain-client.ts';
import type { JsonObject } from '../../../src/domain/json/json.ts';
import type { RpcOutcome } from '../../../src/egress/rpc/rpc-client.ts';
import type { Anchor } from '../../../src/features/transactions/records/anchor.ts';
import type { Attempt } from '../../../src/features/transactions/records/attempt.ts';
import { accountOfLane } from '../../../src/features/transactions/records/lane.ts';
import type { Transaction } from '../../../src/features/transactions/records/transaction.ts';
import type { Signer } from '../../../src/signers/signer.ts';
import { hashOf } from '../fake-chain.ts';
import { FakeFamily } from '../fake-chain-client.ts';
import { FakeWire, LyingEndpoint } from '../fake-wire.ts';
import type { BlockhashChain, BlockhashTransaction } from './blockhash-chain.ts';

const requestSchema = z.object({
  effect: z.string(),
  /** The payment that the bytes make. Equal payments have equal bytes. */
  pays: z.string(),
  reverts: z.boolean(),
  validUntil: z.number().optional(),
  /** The last height for bytes that the client made itself. */
  until: z.number().optional(),
  /** A nonce account and its value. */
  nonce: z.string().optional(),
});

/** The family of {@link BlockhashChain}. */
export class BlockhashFamily extends FakeFamily {
  override readonly pace: ChainPace = { lifetimeMs: 8 * 3_600_000, anchors: { none: 100, text: 100 } };

  override parseRequest(body: unknown, { address: from }: RelayerAccount): ParsedRequest {
    const { validUntil = null, ...request } = requestSchema.parse(body);
    const given = { request: request as JsonObject, validUntil };
    if (request.nonce !== undefined) return { ...given, anchorKind: 'text', onDeath: 'never', contentKey: null };
    if (request.until === undefined) return { ...given, anchorKind: 'none', onDeath: 'renew', contentKey: null };
    const contentKey = hashOf(JSON.stringify(bytesOf(from, given.request, {})));
    return { ...given, anchorKind: 'none', onDeath: 'end', contentKey };
  }

  override withDistinctBytes(fields: JsonObject): JsonObject {
    return { ...fields, variation: Number(fields['variation'] ?? 0) + 1 };
  }
}

/** False outcomes that one endpoint returns for bytes that it could have taken. */
const LIES = ['refused', 'lapsed', 'refused', 'busy', 'anchor-used', 'refused', 'unfunded'] as const;

/** One relayer's client of a {@link BlockhashChain}. */
export class BlockhashClient implements ChainClient {
  readonly #chain: BlockhashChain;
  readonly #wire: FakeWire;
  readonly #liar = new LyingEndpoint(LIES);

  constructor(chain: BlockhashChain) {
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

  prepare({ lane, request }: Transaction): Promise<TransactionPreparation> {
    const ready = (until: number): TransactionPreparation => {
      const nonce = request['nonce'];
      if (nonce !== undefined) {
        return { kind: 'ready', fields: {}, cost: 1n, anchor: { kind: 'text', text: String(nonce) } };
      }
      const made = request['until'] === undefined ? undefined : bytesOf(accountOfLane(lane), request, {});
      if (made !== undefined && this.#chain.placeOf(hashOf(JSON.stringify(made))) !== undefined) {
        return { kind: 'refused', reason: 'These bytes have executed already' };
      }
      if (made !== undefined && this.#chain.isDead(made)) {
        return { kind: 'refused', end: 'expired', reason: 'Blockhash not found' };
      }
      return { kind: 'ready', fields: { until }, cost: 1n, anchor: { kind: 'none' } };
    };
    // A lagging node gives a blockhash that has nearly expired.
    return this.#wire.ask(
      'prepare',
      () => ready(this.#chain.lastHeight),
      () => ready(this.#chain.height + 1),
    );
  }

  async sign(
    { lane, request }: Transaction,
    fields: JsonObject,
    _anchor: Anchor,
    signer: Signer,
  ): Promise<SignedBytes> {
    await signer.sign('ed25519', new Uint8Array(32));
    const raw = JSON.stringify(bytesOf(accountOfLane(lane), request, fields));
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
    for (const { hash } of attempts) {
      const place = this.#chain.placeOf(hash);
      if (place === undefined) continue;
      const { block, isFinal, reverts } = place;
      const reason = reverts ? 'Transaction failed' : null;
      return { kind: 'included', hash, succeeded: !reverts, final: isFinal, reason, fields: { block } };
    }
    const dead = attempts.filter(({ raw }) => this.#chain.isDead(JSON.parse(raw) as BlockhashTransaction));
    if (dead.length < attempts.length) return { kind: 'open', dead: dead.map(({ ordinal }) => ordinal) };
    const isUsed = attempts.some(({ anchor }) => anchor.kind === 'text');
    return isUsed
      ? { kind: 'dead', anchor: 'used', reason: 'The nonce was advanced by somebody else' }
      : { kind: 'open', dead: dead.map(({ ordinal }) => ordinal) };
  }
}

/** The bytes to sign. A client's own bytes are used as they are. */
function bytesOf(from: string, request: JsonObject, fields: JsonObject): BlockhashTransaction {
  const { pays, reverts, until, nonce } = request;
  const says = { from, pays: String(pays), reverts: reverts === true };
  if (nonce !== undefined) return { ...says, nonce: String(nonce) };
  if (until !== undefined) return { ...says, until: Number(until) };
  const { variation } = fields;
  return { ...says, until: Number(fields['until']), ...(variation !== undefined && { variation: Number(variation) }) };
}
