import { seededRandom, seededUnit } from '../../../support/seeded.ts';
import { describeCounts, type Line } from '../report.ts';
import type { FaultSchedule, Shown, SoakNetwork, Stranger } from './chain.ts';
import { Client } from './client.ts';
import { ClientIntents } from './client-intents.ts';
import type { Cluster } from './cluster.ts';
import { History, outcomesOf } from './history.ts';
import type { Intention } from './intention.ts';
import { type Job, jobsOf } from './jobs.ts';
import type { SoakOptions } from './run.ts';
import { settle } from './settling.ts';
import { judge, type Verdict } from './verdict.ts';
import type { World } from './world.ts';

/** The share of jobs that are sent once more when everything has ended. */
const REPEATED = 0.1;
/** How long to wait for the end of transactions that such a repetition may have created in error. */
const AFTERMATH_MS = 20_000;

/** Everything that acts in a run other than the service: the client and its later intents, a stranger, the network. */
export class Workload {
  readonly jobs: readonly Job[];
  readonly client: Client;
  readonly #intentions: readonly Intention[];
  readonly #network: SoakNetwork;
  readonly #cluster: Cluster;
  readonly #seed: number;
  readonly #intents: ClientIntents;
  readonly #history: History;
  readonly #faultSchedule: FaultSchedule;
  readonly #stranger: Stranger | null;
  #repeated = 0;

  constructor({ network }: World, cluster: Cluster, { seed, transactions, calm = false }: SoakOptions) {
    this.#network = network;
    this.#cluster = cluster;
    this.#seed = seed;
    this.#intentions = network.planOf(seed, transactions);
    this.jobs = jobsOf(seed, this.#intentions);
    this.#intents = new ClientIntents(cluster, network, seed);
    this.client = new Client(cluster, (intention, id) => calm || this.#intents.consider(intention, id));
    this.#history = new History(cluster, network);
    this.#faultSchedule = network.startFaultSchedule({ changes: !calm, random: seededRandom(seed, 'faultSchedule') });
    const shown = () => [...this.#history.shown.values()];
    this.#stranger = calm ? null : network.startStranger(seededRandom(seed, 'stranger'), shown);
  }

  /** Starts to record what the service shows. */
  watch(): void {
    this.#history.start();
  }

  /** Waits for the client's intents, then stops the stranger and the schedule of faults. */
  async hush(): Promise<void> {
    await this.#intents.done();
    await this.#stranger?.stop();
    await this.#faultSchedule.clear();
  }

  /** Waits up to `withinMs` until all transactions have ended. @returns those that have not */
  async settle(withinMs: number): Promise<Shown[]> {
    return await settle(await this.#cluster.pick(), this.#network, withinMs);
  }

  /** Repeats some jobs, and judges everything by the chain. */
  async conclude(): Promise<Verdict> {
    const wrong = await this.#repeatSome();
    await this.settle(AFTERMATH_MS);
    await this.#history.stop();
    await this.#history.look();
    const { intents, replacements } = this.#intents;
    const intentions = this.#intentions;
    const verdict = judge({
      intentions,
      asked: this.client.asked,
      intents: await outcomesOf(await this.#cluster.pick(), intents),
      replacements,
      shown: [...this.#history.shown.values()],
      endedAt: this.#history.endedBy,
      chain: await this.#network.readChain([...intentions, ...replacements]),
    });
    return { ...verdict, wrong: [...verdict.wrong, ...wrong, ...this.#history.undone] };
  }

  /** Figures for the report. */
  lines(): Line[] {
    const { unknown, refused } = this.client.asked;
    const refusals = new Map<string, number>();
    for (const reason of refused.values()) refusals.set(reason, (refusals.get(reason) ?? 0) + 1);
    const calls = this.jobs.filter(({ way }) => way === 'plugin');
    const payments = calls.reduce((sum, { intentions }) => sum + intentions.length, 0);
    return [
      ['through a plugin', `${payments} in ${calls.length} calls`],
      ['without a key', this.jobs.filter(({ key }) => key === null).length],
      ['sent again after the end', this.#repeated],
      ['answers never heard', unknown.size],
      ['refused', describeCounts(refusals)],
      ['intents', describeCounts(this.#intents.answers)],
      ['faultSchedule', describeCounts(this.#faultSchedule.counts)],
      ['sent by a stranger', this.#stranger?.sent ?? 0],
    ];
  }

  /** Safe to call twice. */
  async close(): Promise<void> {
    await this.#stranger?.stop();
    await this.#faultSchedule.stop();
    await this.#history.stop();
  }

  async #repeatSome(): Promise<string[]> {
    const { accepted } = this.client.asked;
    const isAccepted = ({ intentions }: Job) => intentions.every(({ index }) => accepted.has(index));
    const some = this.jobs.filter(
      (job) => job.key !== null && isAccepted(job) && seededUnit(this.#seed, 'repeat', job.key) < REPEATED,
    );
    this.#repeated = some.length;
    return await this.client.repeatAll(some);
  }
}
