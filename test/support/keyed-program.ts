import { setImmediate as turn } from 'node:timers/promises';
import { systemClock } from '../../src/domain/clock.ts';
import { type IdempotencyClaim, journalOf } from '../../src/domain/idempotency.ts';
import type { Json } from '../../src/domain/json/json.ts';
import { CallJournal } from '../../src/features/plugins/host/call-journal.ts';
import { RunningCalls } from '../../src/features/plugins/host/call-record.ts';
import { bindCapabilities } from '../../src/features/plugins/host/capabilities/all-capabilities.ts';
import { readPluginGrants } from '../../src/features/plugins/host/capabilities/grants.ts';
import { CapabilityGateway } from '../../src/features/plugins/host/gateway.ts';
import { pluginEntrySchema } from '../../src/features/plugins/records/plugin.ts';
import { Crash } from './crash.ts';
import { type EngineWorld, relayerNamed } from './engine-world.ts';
import { KEEPING } from './principal.ts';
import { RecordedMetrics } from './recorded-metrics.ts';

export const RELAYERS = ['r1', 'r2', 'r3'] as const;

/** The steps of a plugin. Labels tell the effects of one program apart. */
export type Program =
  | { do: 'send'; relayer: number; label: string }
  | { do: 'set'; label: string }
  | { do: 'insist'; send: Extract<Program, { do: 'send' }>; times: number }
  | { do: 'either'; first: Program; next: Program }
  | { do: 'in turn' | 'at once'; all: Program[] }
  | { do: 'locked'; label: string; inner: Program }
  | { do: 'read' };

/** Ends a run early: after this many of its steps. */
export interface Cut {
  how: 'process lost' | 'time over' | 'server killed';
  after: number;
}

/** Random values, new in each run: when which relayers are paused. */
type Random = () => number;

/** How one run of a program ended, and the ids of transactions that it received. */
export interface Ended {
  how: 'returned' | 'cut' | 'failed';
  code: string | undefined;
  ids: string[];
}

/** Runs programs under one idempotency key, as the service runs plugin calls. Their effects really happen. */
export class KeyedProgram {
  readonly #world: EngineWorld;
  readonly #key: string;
  readonly #random: Random;
  /** The claim of the previous run, if the next run continues under it. */
  #lost: { claim: IdempotencyClaim; journal: CallJournal } | undefined;
  #runs = 0;

  constructor(world: EngineWorld, key: string, random: Random) {
    this.#world = world;
    this.#key = key;
    this.#random = random;
  }

  async run(program: Program, cut?: Cut): Promise<Ended> {
    const crash = new Crash(cut?.how === 'server killed' ? cut.after : Number.POSITIVE_INFINITY);
    const services = this.#world.services(undefined, crash.store(this.#world.store));
    const claim = await this.#claimed();
    const calls = new RunningCalls();
    const gateway = new CapabilityGateway({
      capabilities: bindCapabilities(services),
      calls,
      effects: services.effects,
      log: this.#world.log,
      metrics: new RecordedMetrics(),
      clock: systemClock,
      uuid: () => crypto.randomUUID(),
      relayerIds: async () => [],
    });
    const { read } = this.#world.store;
    const recorded = await read.effectNames(claim.id);
    const stored = journalOf(await read.journal(claim.id));
    const options = {
      claim,
      start: START,
      recorded,
      maxBytes: 1_000_000,
      isStartStored: stored !== undefined,
      ...stored,
    };
    const journal = this.#lost?.journal.again(recorded) ?? new CallJournal(options);
    const plugin = { id: 'p', grants: readPluginGrants(pluginEntrySchema.parse(ENTRY)), maxCalls: 1000, ...KEEPING };
    const record = calls.begin({
      child: 1,
      plugin,
      requestId: 'req',
      callerKeyId: 'k',
      fingerprint: () => '',
      journal,
    });
    const over = Promise.withResolvers<Ended['how']>();
    const ids: string[] = [];
    record.onFailure = () => {
      calls.end(record);
      over.resolve('failed');
    };
    let left = cut === undefined || cut.how === 'server killed' ? Number.POSITIVE_INFINITY : cut.after;
    const step = async () => {
      left -= 1;
      if (left <= 0) {
        calls.end(record);
        over.resolve('cut');
      }
      if (record.ended) await new Promise<never>(() => {});
    };
    // A guest hears one answer after the other, and does all that follows from one before it hears the next.
    let hearing = Promise.resolve();
    let id = 0;
    const guest = new Guest(async (method, params) => {
      id += 1;
      const request = { id, method, params };
      await step();
      const reply = await gateway.answer(1, record.call, request);
      const before = hearing;
      hearing = before.then(() => turn());
      await before;
      await step();
      if (!reply.ok) throw new Refused(reply.error.message);
      return reply.value;
    });
    void guest.play(program, ids).then(
      () => over.resolve('returned'),
      (error: unknown) => (error instanceof Refused ? over.resolve('returned') : over.reject(error)),
    );
    const watch = setInterval(() => crash.hasHappened && over.resolve('cut'), 1);
    const how = await over.promise;
    clearInterval(watch);
    // Requests of the dead server may still take effect. The program gets nothing of it.
    calls.end(record);
    this.#lost = cut?.how === 'process lost' && how === 'cut' ? { claim, journal } : undefined;
    if (cut?.how === 'time over' && how === 'cut') await this.#world.store.write((writer) => writer.leaveKey(claim));
    return { how, code: record.failure?.code, ids };
  }

  /** Pauses and resumes relayers at random. */
  async shuffle(): Promise<void> {
    await this.#world.store.write(async (writer) => {
      for (const id of RELAYERS) await writer.putRelayer(relayerNamed(id, { paused: this.#random() < 0.4 }));
    });
  }

  /** All transactions of this program that were ever accepted, through any relayer. */
  async accepted(): Promise<string[]> {
    const pages = RELAYERS.map(async (id) => this.#world.store.read.transactions(id, { page: 1, perPage: 500 }));
    const items = (await Promise.all(pages)).flatMap((page) => page.items);
    return items.filter(({ request }) => String(request['effect']).startsWith(`${this.#key}/`)).map(({ id }) => id);
  }

  async #claimed(): Promise<IdempotencyClaim> {
    if (this.#lost !== undefined) {
      await this.#lost.journal.settled(60_000);
      return this.#lost.claim;
    }
    this.#runs += 1;
    const request = { scope: 's', key: this.#key, fingerprint: 'f' };
    const claimant = { id: crypto.randomUUID(), owner: `run ${this.#runs}`, forMs: 60_000, isAlone: true };
    const state = await this.#world.store.write((writer) => writer.claimKey(request, claimant));
    if (state.kind !== 'claimed') throw new Error(state.kind);
    return state.claim;
  }
}

const ENTRY = { id: 'p', path: 'p.ts' };
const START = { seed: '0'.repeat(64), now: 0, version: 'v', context: '{}' };

class Refused extends Error {}

type Ask = (method: string, params: { [name: string]: Json }) => Promise<Json>;

/** Plays a program as a guest would. It knows only the answers that it gets. */
class Guest {
  readonly #ask: Ask;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /**
   * Runs the program's steps.
   * @throws Refused when the program does not get what it wants
   */
  async play(program: Program, ids: string[]): Promise<void> {
    switch (program.do) {
      case 'send': {
        const relayerId = RELAYERS[program.relayer] ?? 'r1';
        const sent = await this.#ask('relayer.sendTransaction', { relayerId, request: { effect: program.label } });
        ids.push((sent as { id: string }).id);
        return;
      }
      case 'set':
        await this.#ask('kv.set', { key: 'k', value: JSON.stringify(program.label) });
        return;
      case 'insist':
        for (let time = 1; ; time += 1) {
          try {
            return await this.play(program.send, ids);
          } catch (error) {
            if (time >= program.times) throw error;
          }
        }
      case 'either':
        try {
          return await this.play(program.first, ids);
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          return await this.play(program.next, ids);
        }
      case 'in turn':
        for (const one of program.all) await this.play(one, ids);
        return;
      case 'at once': {
        const played = await Promise.allSettled(program.all.map((one) => this.play(one, ids)));
        const refused = played.find((one) => one.status === 'rejected');
        if (refused !== undefined) throw refused.reason;
        return;
      }
      case 'locked': {
        const fence = await this.#ask('kv.lock', { key: program.label.replaceAll('/', ':'), ttlSec: 60 });
        if (fence === null) throw new Refused('lock busy');
        try {
          return await this.play(program.inner, ids);
        } finally {
          await this.#ask('kv.unlock', { key: program.label.replaceAll('/', ':'), fence });
        }
      }
      case 'read':
        await this.#ask('relayer.getRelayer', { relayerId: 'r1' });
        return;
      default:
        throw new Error(`Unknown ${JSON.stringify(program satisfies never)}`);
    }
  }
}
