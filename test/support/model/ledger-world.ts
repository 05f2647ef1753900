import type { JsonObject } from '../../../src/domain/json/json.ts';
import { fc } from '../properties.ts';
import { type CommonEvent, commonEvents, weighed, which, worthMs } from './events.ts';
import type { Case, Execution, Truth } from './judge.ts';
import { type Envelope, innerHashOf, LedgerChain } from './ledger-chain.ts';
import { LedgerClient, LedgerFamily } from './ledger-client.ts';
import { effectOf, originOf } from './requests.ts';
import { Stage } from './stage.ts';
import type { ModelWorld, WorldKind } from './world.ts';

/** What can happen in a world whose accounts have exact sequences, and whose envelopes have time bounds. */
export type LedgerEvent = CommonEvent | Own;

interface Asked {
  relayer: number;
  reverts: boolean;
  worthMs: number | null;
}

type Own =
  | ({ kind: 'accept'; count: number; isKeyed: boolean } & Asked)
  /** A request whose time bounds the client chooses. */
  | ({ kind: 'accept bounded'; lasting: number } & Asked)
  /** A request that needs an entry restored first, which works or fails. */
  | ({ kind: 'accept needy'; fails: boolean } & Asked)
  /** An envelope that the client has signed, with a bound or without. */
  | ({ kind: 'accept envelope'; lasting: number | null } & Asked)
  /** An envelope that was posted before. */
  | { kind: 'accept again'; which: number; relayer: number }
  | { kind: 'close'; limit: number; ledgers: number }
  | { kind: 'forget pool' }
  | { kind: 'foreign use'; relayer: number }
  | { kind: 'client uses its sequence'; which: number }
  | { kind: 'client lands its envelope'; which: number }
  | { kind: 'network asks for'; floor: number }
  | { kind: 'no node takes'; which: number };

const asked = { relayer: which, reverts: fc.boolean(), worthMs };
const lasting = fc.integer({ min: 1, max: 8 });

const events: fc.Arbitrary<LedgerEvent> = fc.oneof(
  ...commonEvents,
  weighed<Own, 'accept'>(4, 'accept', { ...asked, count: fc.integer({ min: 1, max: 3 }), isKeyed: fc.boolean() }),
  weighed<Own, 'accept bounded'>(1, 'accept bounded', { ...asked, lasting }),
  weighed<Own, 'accept needy'>(2, 'accept needy', { ...asked, fails: fc.boolean() }),
  weighed<Own, 'accept envelope'>(3, 'accept envelope', { ...asked, lasting: fc.option(lasting) }),
  weighed<Own, 'accept again'>(2, 'accept again', { which, relayer: which }),
  weighed<Own, 'close'>(6, 'close', { limit: fc.nat(4), ledgers: fc.integer({ min: 1, max: 6 }) }),
  weighed<Own, 'forget pool'>(2, 'forget pool', {}),
  weighed<Own, 'foreign use'>(2, 'foreign use', { relayer: which }),
  weighed<Own, 'client uses its sequence'>(1, 'client uses its sequence', { which }),
  weighed<Own, 'client lands its envelope'>(1, 'client lands its envelope', { which }),
  weighed<Own, 'network asks for'>(1, 'network asks for', { floor: fc.integer({ min: 1, max: 9 }) }),
  weighed<Own, 'no node takes'>(1, 'no node takes', { which }),
);

/**
 * Worlds with accounts that have exact sequences, and pools with room for one envelope of each. Envelopes have time
 * bounds, and are the service's or its clients'.
 */
export const ledgerWorlds: WorldKind<LedgerEvent> = {
  name: 'ledgers with time bounds',
  hasForks: false,
  events,
  async open(options) {
    const chain = new LedgerChain();
    const client = new LedgerClient(chain);
    const stage = await Stage.open(options, () => client, { family: new LedgerFamily() });
    chain.fault = (call, raw) => stage.faultOf(call, raw !== undefined && !chain.received.has(raw));
    return new LedgerWorld(stage, chain);
  },
};

/** An envelope of a client, and the relayer to which it was posted first. */
interface Signed {
  inner: Envelope;
  relayer: number;
}

class LedgerWorld implements ModelWorld<LedgerEvent> {
  readonly #stage: Stage;
  readonly #chain: LedgerChain;
  /** The envelopes that clients signed, by the effect for which they were accepted. */
  readonly #envelopes = new Map<string, Signed>();
  /** The last ledgers that clients allow for the service's transactions, by the effect for which they were accepted. */
  readonly #bounds = new Map<string, number>();

  constructor(stage: Stage, chain: LedgerChain) {
    this.#stage = stage;
    this.#chain = chain;
  }

  async happen(event: LedgerEvent): Promise<void> {
    const chain = this.#chain;
    switch (event.kind) {
      case 'accept':
        for (let index = 0; index < event.count; index += 1) await this.#send(event, {}, event.isKeyed);
        return;
      case 'accept bounded':
        return await this.#acceptBounded(event);
      case 'accept needy': {
        const what = `what ${this.#stage.requests.nextEffect()} needs`;
        await this.#send(event, { needs: { what, fails: event.fails } });
        return;
      }
      case 'accept envelope':
        return await this.#acceptEnvelope(event);
      case 'accept again': {
        const envelope = this.#envelopeOf(event.which);
        if (envelope !== undefined) await this.#acceptAgain(event.relayer, envelope);
        return;
      }
      case 'close':
        for (let ledger = 0; ledger < event.ledgers; ledger += 1) chain.close(event.limit);
        return;
      case 'forget pool':
        return chain.forgetPool();
      case 'foreign use':
        return chain.useKey(this.#stage.requests.relayerOf(event.relayer).address);
      case 'client uses its sequence': {
        const source = this.#envelopeOf(event.which)?.inner.source;
        return source === undefined || chain.sequenceOf(source) > 0n ? undefined : chain.useKey(source);
      }
      case 'client lands its envelope': {
        const inner = this.#envelopeOf(event.which)?.inner;
        if (inner !== undefined) chain.submit(JSON.stringify({ inner }));
        return;
      }
      case 'network asks for':
        chain.floor = event.floor;
        return;
      case 'no node takes':
        chain.unacceptable.add(effectOf(event.which));
        return;
      default:
        return await this.#stage.happen(event);
    }
  }

  goOn(calls: number): Promise<void> {
    return this.#stage.goOn(calls);
  }

  /**
   * Ends the history. Envelopes that nobody offers any more and that have no bound end when their source's sequence is
   * used, so this uses it as its owner would.
   */
  async end(): Promise<void> {
    const chain = this.#chain;
    chain.calmDown();
    await this.#stage.end(async () => {
      chain.close();
      const { read } = this.#stage.world.store;
      for (const lane of this.#stage.requests.lanes) {
        for (const { transaction } of await read.openTransactions(lane)) {
          if (transaction.noopEnd === null) continue;
          const inner = transaction.request['inner'] as Envelope | undefined;
          if (inner !== undefined && chain.sequenceOf(inner.source) === 0n) chain.useKey(inner.source);
          // Closes many ledgers, so that the test does not wait for envelopes with much time.
          else for (let ledger = 0; ledger < 40; ledger += 1) chain.close();
        }
      }
    });
    while (chain.isBusy) chain.close();
  }

  async evidence(): Promise<{ cases: Case[]; truth: Truth }> {
    const cases = (await this.#stage.requests.cases()).map((one) => this.#untilDead(one));
    const executions = this.#chain.closed.map(({ hash, innerHash, inner }): Execution => {
      const { source, sequence, does, reverts } = inner;
      const sentFor = [...(this.#chain.purposes.get(innerHash) ?? [])];
      // An envelope that the client submitted itself counts for the service only if the service claims it.
      const claimed = cases.filter(({ shown }) => sentFor.length === 0 && shown?.hash === hash);
      const effects = [...sentFor, ...claimed.map(({ effect }) => effect)];
      const effect = effects.length === 0 ? does : effects.join(' and ');
      const isForeign = effects.length === 0;
      return { hash, effect, anchor: `${source}:${sequence}`, succeeded: !reverts, isForeign };
    });
    const isRefused = (effect: string) =>
      this.#chain.unacceptable.has(effect) ||
      this.#isThere(effect) ||
      executions.some((one) => !one.succeeded && one.effect === neededBy(effect));
    return { cases, truth: { executions, isRefused, now: Date.now() } };
  }

  close(): Promise<void> {
    return this.#stage.close();
  }

  /**
   * Sends a request.
   * @returns the effect for which it was accepted
   */
  async #send({ relayer, reverts, worthMs }: Asked, more: JsonObject, isKeyed = false): Promise<string | undefined> {
    const { requests } = this.#stage;
    const effect = requests.nextEffect();
    const validUntil = worthMs === null ? {} : { validUntil: Date.now() + worthMs };
    const accepted = await requests.send(relayer, { reverts, ...more, ...validUntil }, isKeyed);
    this.#stage.wake();
    return accepted === undefined ? undefined : effect;
  }

  async #acceptBounded(event: Extract<Own, { kind: 'accept bounded' }>): Promise<void> {
    const until = this.#chain.height + event.lasting;
    const effect = await this.#send(event, { until });
    if (effect !== undefined) this.#bounds.set(effect, until);
  }

  async #acceptEnvelope(event: Extract<Own, { kind: 'accept envelope' }>): Promise<void> {
    const name = this.#stage.requests.nextEffect();
    const until = event.lasting === null ? null : this.#chain.height + event.lasting;
    const { relayer, reverts } = event;
    const inner = { source: `client of ${name}`, sequence: '1', does: `envelope for ${name}`, reverts, fee: 0, until };
    const effect = await this.#send(event, { inner });
    if (effect !== undefined) this.#envelopes.set(effect, { inner, relayer });
  }

  /**
   * Posts the envelope to the relayer of the same account. Under another account it would be another transaction, and
   * the chain takes one of the two.
   */
  async #acceptAgain(relayer: number, { inner, relayer: first }: Signed): Promise<void> {
    const { requests } = this.#stage;
    const isSame = requests.relayerOf(relayer).address === requests.relayerOf(first).address;
    const asked = { relayer: isSame ? relayer : first, reverts: inner.reverts, worthMs: null };
    const effect = await this.#send(asked, { inner });
    if (effect !== undefined) this.#envelopes.set(effect, { inner, relayer: asked.relayer });
  }

  /** Whether a ledger holds the posted envelope, for whichever request. */
  #isThere(effect: string): boolean {
    const signed = this.#envelopes.get(originOf(effect));
    return signed !== undefined && this.#chain.find(innerHashOf(signed.inner)) !== undefined;
  }

  #envelopeOf(which: number): Signed | undefined {
    return [...this.#envelopes.values()][which % Math.max(this.#envelopes.size, 1)];
  }

  /** Limits a case's validity to the bound that its client chose. */
  #untilDead(one: Case): Case {
    const until = this.#envelopes.get(one.effect)?.inner.until ?? this.#bounds.get(one.effect);
    const diedAt = until === undefined || until === null ? null : this.#chain.closedAt(until);
    if (diedAt === null) return one;
    return { ...one, validUntil: Math.min(diedAt, one.validUntil ?? diedAt) };
  }
}

/** The entry that a request needs first, even if the request replaced another. */
function neededBy(effect: string): string {
  return `what ${originOf(effect)} needs`;
}
