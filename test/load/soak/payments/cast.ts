import { seededRandom, seededUnit } from '../../../support/seeded.ts';
import { describeCounts, type Line } from '../report.ts';
import type { Shown, SoakNetwork, Stranger, Weather } from './chain.ts';
import { Chronicle, outcomesOf } from './chronicle.ts';
import { Client } from './client.ts';
import { ClientIntents } from './client-intents.ts';
import { type Errand, errandsOf } from './errands.ts';
import type { Fleet } from './fleet.ts';
import type { Intention } from './intention.ts';
import type { SoakOptions } from './run.ts';
import { settle } from './settling.ts';
import { judge, type Verdict } from './verdict.ts';
import type { World } from './world.ts';

/** The share of errands that are sent once more when everything has ended. */
const REPEATED = 0.1;
/** How long to wait for the end of transactions that such a repetition may have created in error. */
const AFTERMATH_MS = 20_000;

/** Everything that acts in a run other than the service: the client and its later intents, a stranger, the network. */
export class Cast {
  readonly errands: readonly Errand[];
  readonly client: Client;
  readonly #intentions: readonly Intention[];
  readonly #network: SoakNetwork;
  readonly #fleet: Fleet;
  readonly #seed: number;
  readonly #intents: ClientIntents;
  readonly #chronicle: Chronicle;
  readonly #weather: Weather;
  readonly #stranger: Stranger | null;
  #repeated = 0;

  constructor({ network }: World, fleet: Fleet, { seed, transactions, calm = false }: SoakOptions) {
    this.#network = network;
    this.#fleet = fleet;
    this.#seed = seed;
    this.#intentions = network.planOf(seed, transactions);
    this.errands = errandsOf(seed, this.#intentions);
    this.#intents = new ClientIntents(fleet, network, seed);
    this.client = new Client(fleet, (intention, id) => calm || this.#intents.consider(intention, id));
    this.#chronicle = new Chronicle(fleet, network);
    this.#weather = network.startWeather({ changes: !calm, random: seededRandom(seed, 'weather') });
    const shown = () => [...this.#chronicle.shown.values()];
    this.#stranger = calm ? null : network.startStranger(seededRandom(seed, 'stranger'), shown);
  }

  /** Starts to record what the service shows. */
  watch(): void {
    this.#chronicle.start();
  }

  /** Waits for the client's intents, then stops the stranger and the weather. */
  async hush(): Promise<void> {
    await this.#intents.done();
    await this.#stranger?.stop();
    await this.#weather.clear();
  }

  /** Waits up to `withinMs` until all transactions have ended. @returns those that have not */
  async settle(withinMs: number): Promise<Shown[]> {
    return await settle(await this.#fleet.pick(), this.#network, withinMs);
  }

  /** Repeats some errands, and judges everything by the chain. */
  async conclude(): Promise<Verdict> {
    const wrong = await this.#repeatSome();
    await this.settle(AFTERMATH_MS);
    await this.#chronicle.stop();
    await this.#chronicle.look();
    const { intents, replacements } = this.#intents;
    const intentions = this.#intentions;
    const verdict = judge({
      intentions,
      asked: this.client.asked,
      intents: await outcomesOf(await this.#fleet.pick(), intents),
      replacements,
      shown: [...this.#chronicle.shown.values()],
      endedAt: this.#chronicle.endedBy,
      chain: await this.#network.readChain([...intentions, ...replacements]),
    });
    return { ...verdict, wrong: [...verdict.wrong, ...wrong, ...this.#chronicle.undone] };
  }

  /** Figures for the report. */
  lines(): Line[] {
    const { unknown, refused } = this.client.asked;
    const refusals = new Map<string, number>();
    for (const reason of refused.values()) refusals.set(reason, (refusals.get(reason) ?? 0) + 1);
    const calls = this.errands.filter(({ way }) => way === 'plugin');
    const payments = calls.reduce((sum, { intentions }) => sum + intentions.length, 0);
    return [
      ['through a plugin', `${payments} in ${calls.length} calls`],
      ['without a key', this.errands.filter(({ key }) => key === null).length],
      ['sent again after the end', this.#repeated],
      ['answers never heard', unknown.size],
      ['refused', describeCounts(refusals)],
      ['intents', describeCounts(this.#intents.answers)],
      ['weather', describeCounts(this.#weather.counts)],
      ['sent by a stranger', this.#stranger?.sent ?? 0],
    ];
  }

  /** Safe to call twice. */
  async close(): Promise<void> {
    await this.#stranger?.stop();
    await this.#weather.stop();
    await this.#chronicle.stop();
  }

  async #repeatSome(): Promise<string[]> {
    const { accepted } = this.client.asked;
    const isAccepted = ({ intentions }: Errand) => intentions.every(({ index }) => accepted.has(index));
    const some = this.errands.filter(
      (errand) => errand.key !== null && isAccepted(errand) && seededUnit(this.#seed, 'repeat', errand.key) < REPEATED,
    );
    this.#repeated = some.length;
    return await this.client.repeatAll(some);
  }
}
