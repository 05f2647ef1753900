import type { KeyedEffect } from '../../../src/domain/idempotency.ts';
import type { Json, JsonObject } from '../../../src/domain/json/json.ts';
import type { Anchor } from '../../../src/features/transactions/records/anchor.ts';
import type { IntentAction } from '../../../src/features/transactions/records/intent.ts';
import { accountOfLane } from '../../../src/features/transactions/records/lane.ts';
import type { Transaction } from '../../../src/features/transactions/records/transaction.ts';
import { isFinal } from '../../../src/features/transactions/records/transaction-state.ts';
import type { Store, StoreReader } from '../../../src/store/store.ts';
import { ADDRESS, type EngineWorld, relayerNamed } from '../engine-world.ts';
import { keyedEffect } from '../keyed-effect.ts';
import type { AnsweredIntent, Case, Shown } from './judge.ts';

/** Two accounts, one of which two relayers share. */
export const RELAYERS = [
  relayerNamed('r1'),
  relayerNamed('r2', { address: '0xbb' }),
  relayerNamed('r3', { address: ADDRESS }),
];

interface Accepted {
  readonly transaction: Transaction;
  /** The effect for which it was accepted. */
  readonly effect: string;
  validUntil: number | null;
  readonly intents: { position: number; kind: IntentAction['kind']; effect?: string }[];
  /** What the service showed of it before its row was pruned. */
  kept?: Case;
}

/** The clients' requests, and what the service shows of them. */
export class Requests {
  readonly #world: EngineWorld;
  /** The store that the mutant sees. */
  readonly #store: Store;
  readonly #accepted: Accepted[] = [];
  #asked = 0;

  constructor(world: EngineWorld, store: Store) {
    this.#world = world;
    this.#store = store;
  }

  /** The lanes that have accepted requests. */
  get lanes(): string[] {
    return [...new Set(this.#accepted.map(({ transaction }) => transaction.lane))];
  }

  /** The effect of the next request. */
  nextEffect(): string {
    return effectOf(this.#asked);
  }

  /** The relayer with this number. */
  relayerOf(which: number): (typeof RELAYERS)[number] {
    return RELAYERS[which % RELAYERS.length] as (typeof RELAYERS)[number];
  }

  /**
   * Sends a client's request. With an idempotency key it is sent twice. If the service refuses it, or has it already,
   * it adds no case.
   * @returns the transaction if it is new
   */
  async send(relayer: number, body: JsonObject, isKeyed: boolean): Promise<Transaction | undefined> {
    const effect = this.nextEffect();
    this.#asked += 1;
    const relayerId = this.relayerOf(relayer).id;
    const key = isKeyed ? await keyedEffect(this.#world.store, effect) : undefined;
    const id = await this.#post(relayerId, { ...body, effect }, key);
    if (key !== undefined) await this.#post(relayerId, { ...body, effect }, key);
    if (id === undefined || this.#accepted.some(({ transaction }) => transaction.id === id)) return undefined;
    const transaction = await this.#world.store.read.transaction(relayerId, id);
    if (transaction === undefined) return undefined;
    this.#accepted.push({ transaction, effect, validUntil: transaction.validUntil, intents: [] });
    return transaction;
  }

  async #post(relayerId: string, body: Json, key: KeyedEffect | undefined): Promise<string | undefined> {
    try {
      const { transactions } = this.#world.services();
      return String((await transactions.send(relayerId, body, { effect: key }))['id']);
    } catch {
      return undefined;
    }
  }

  /** Ends the validity of a client's request now. */
  async expire(which: number): Promise<void> {
    const accepted = this.#choose(which);
    if (accepted === undefined) return;
    const { id } = accepted.transaction;
    const validUntil = Date.now() - 1;
    await this.#world.store.write(async (writer) => {
      const status = await statusOf(writer, accepted);
      if (status === undefined || isFinal(status)) return;
      if (await writer.updateTransaction(id, status, { validUntil })) accepted.validUntil = validUntil;
    });
  }

  async cancel(which: number): Promise<void> {
    await this.#ask(which, () => ({ kind: 'cancel' }));
  }

  /** The replacement is the same request with another effect. */
  async replace(which: number): Promise<void> {
    await this.#ask(which, (effect, request) => {
      return { kind: 'replace', request: { ...request, effect, reverts: false }, validUntil: null };
    });
  }

  async #ask(which: number, actionFor: (effect: string, request: JsonObject) => IntentAction): Promise<void> {
    const accepted = this.#choose(which);
    if (accepted === undefined || accepted.kept !== undefined) return;
    const { id: transactionId, lane, request } = accepted.transaction;
    const effect = `${accepted.effect}${INSTEAD}${accepted.intents.length}`;
    const action = actionFor(effect, request);
    const position = await this.#store.write((writer) => writer.insertIntent({ transactionId, lane, action }));
    accepted.intents.push({ position, kind: action.kind, ...(action.kind === 'replace' && { effect }) });
  }

  #choose(which: number): Accepted | undefined {
    return this.#accepted[which % Math.max(this.#accepted.length, 1)];
  }

  /** Adds a case for each transaction that the engine itself made for a request. */
  async #addChildren(read: StoreReader): Promise<void> {
    const known = new Set(this.#accepted.map(({ transaction }) => transaction.id));
    for (const parent of [...this.#accepted]) {
      for (const transaction of await read.children(parent.transaction.id)) {
        if (known.has(transaction.id)) continue;
        const effect = String(transaction.request['effect']);
        this.#accepted.push({ transaction, effect, validUntil: transaction.validUntil, intents: [] });
      }
    }
  }

  /** Whether all have ended and no intent waits. */
  async haveEnded(): Promise<boolean> {
    const { read } = this.#world.store;
    for (const lane of this.lanes) {
      if ((await read.openTransactions(lane)).length > 0 || (await read.intents(lane, 1)).length > 0) return false;
    }
    await this.#addChildren(read);
    const states = await Promise.all(this.#accepted.map((one) => statusOf(read, one)));
    return states.every((status) => status === undefined || isFinal(status));
  }

  /** Describes the transactions that have not ended, for error messages. */
  async describeOpen(): Promise<string> {
    const all = await Promise.all(
      this.#accepted.map(async ({ transaction: { id, relayerId } }) => {
        const { read } = this.#world.store;
        const now = await read.transaction(relayerId, id);
        if (now === undefined || isFinal(now.status)) return [];
        const attempts = (await read.attempts(id)).map(({ raw, deadAt }) => `${deadAt === null ? '' : 'dead '}${raw}`);
        return [JSON.stringify({ ...now, sequence: String(now.sequence), attempts })];
      }),
    );
    return all.flat().join('\n');
  }

  /** Prunes ended transactions if nothing that waits refers to them. */
  async prune(): Promise<void> {
    await this.#world.store.write(async (writer) => {
      await this.#addChildren(writer);
      const ended: Accepted[] = [];
      for (const one of this.#accepted) {
        const status = one.kept === undefined ? await statusOf(writer, one) : undefined;
        if (status !== undefined && isFinal(status)) ended.push(one);
      }
      const cases = await Promise.all(ended.map((one) => caseOf(writer, one)));
      const waits = cases.some(({ intents }) => intents.some(({ answer }) => answer === 'open'));
      const isNeeded = ended.some(({ transaction: { parentId } }) => parentId !== null && !isIn(ended, parentId));
      if (waits || isNeeded) return;
      for (const [index, one] of ended.entries()) {
        const kept = cases[index];
        if (kept !== undefined) one.kept = kept;
      }
      await writer.pruneTransactions(Date.now() + 1, 1_000);
    });
  }

  async cases(): Promise<Case[]> {
    const { read } = this.#world.store;
    await this.#addChildren(read);
    return await Promise.all(this.#accepted.map(async (one) => one.kept ?? (await caseOf(read, one))));
  }
}

/** The effect of the request with this number. */
export function effectOf(index: number): string {
  return `effect ${index}`;
}

const INSTEAD = ' instead ';

/** The original effect that a replacement's effect stands for. */
export function originOf(effect: string): string {
  return effect.split(INSTEAD)[0] ?? effect;
}

function isIn(accepted: readonly Accepted[], id: string): boolean {
  return accepted.some(({ transaction }) => transaction.id === id);
}

async function statusOf(
  read: StoreReader,
  { transaction, kept }: Accepted,
): Promise<Transaction['status'] | undefined> {
  if (kept !== undefined) return undefined;
  return (await read.transaction(transaction.relayerId, transaction.id))?.status;
}

async function caseOf(read: StoreReader, { transaction, effect, validUntil, intents }: Accepted): Promise<Case> {
  const { id, relayerId } = transaction;
  const answered = intents.map(async ({ position, ...intent }): Promise<AnsweredIntent> => {
    const outcome = await read.intentOutcome(position);
    if (outcome === undefined || outcome === 'waiting') return { ...intent, answer: 'open' };
    return { ...intent, answer: outcome.refusal === null ? 'done' : 'refused' };
  });
  const now = await read.transaction(relayerId, id);
  const shown = now === undefined ? undefined : await shownOf(read, now);
  return { name: id, effect, validUntil, intents: await Promise.all(answered), shown };
}

async function shownOf(read: StoreReader, { id, lane, status, ...now }: Transaction): Promise<Shown> {
  const latest = (await read.attempts(id)).at(-1);
  return {
    status,
    reason: now.statusReason,
    // If another party brought the client's bytes into a block, they have another hash.
    hash: now.fields['executedAs'] === undefined ? now.hash : String(now.fields['executedAs']),
    effect: String(now.request['effect']),
    anchor: latest === undefined ? null : textOf(latest.anchor, accountOfLane(lane)),
    endedAt: await read.endedAt(id),
  };
}

function textOf(anchor: Anchor, account: string): string | null {
  if (anchor.kind === 'sequence') return `${account}:${anchor.sequence}`;
  return anchor.kind === 'text' ? anchor.text : null;
}
