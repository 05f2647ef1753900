import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningService } from '../../support/service.ts';
import { type Answer, callPlugin, isBackOff, isRefused } from './answer.ts';
import { ATTACK_TIMEOUT_S, type End, HONEST, type HostilePlugin } from './hostile-plugins.ts';

/** One attack and how it ended. */
export interface Attempt {
  readonly attack: string;
  readonly end: End;
  /** Its start, in milliseconds on the clock of `performance`. */
  readonly at: number;
  /** From the request until the answer was complete, in milliseconds. */
  readonly tookMs: number;
  /** Whether its end is an allowed one, and came in time. */
  readonly contained: boolean;
  readonly answer: string;
}

/**
 * How long honest callers notice an attack, in milliseconds from its answer: until a call of the same plugin, and one
 * of another plugin, gets the right answer. Null if none did within the patience.
 */
export interface Recovery {
  readonly attack: string;
  readonly sameMs: number | null;
  readonly otherMs: number | null;
  /** Whether the plugin was backed off meanwhile, because its process was killed again and again. Not judged if so. */
  readonly backedOff: boolean;
  /** Wrong answers to calls of the same plugin before the right one. */
  readonly wrong: readonly string[];
}

export interface AttackRunOptions {
  readonly hostile: readonly HostilePlugin[];
  /** In [0, 1). */
  random(): number;
  /** The shortest time between the starts of two attacks, in milliseconds. */
  readonly paceMs: number;
  say(text: string): void;
}

/** How late an attack's answer may come after the plugin's timeout. */
const LATE_MS = 1_000;
const TIMEOUT_MS = ATTACK_TIMEOUT_S * 1_000;
/** How long to wait for an attack's answer. A late answer is not contained, but the report shows it. */
const PATIENCE_MS = TIMEOUT_MS + 30_000;
const PROBE_PATIENCE_MS = 30_000;
/** Longer than any back-off. A plugin that is backed off for longer counts as lost. */
const BACK_OFF_PATIENCE_MS = 300_000;
const AGAIN_MS = 10;
/** The share of turns with several attacks at once, and the most attacks in such a turn. */
const TOGETHER = 0.25;
const MAX_TOGETHER = 4;
const TRIES = 5;

/** The attacks of a run, in rounds. Each round has all attacks in random order, some of them at the same time. */
export class AttackRun {
  readonly attempts: Attempt[] = [];
  readonly recoveries: Recovery[] = [];
  /** The announced back-offs of plugins, in seconds. */
  readonly backOffs: number[] = [];
  /** How often an attack did not start for another reason, for example because no process was free. */
  refused = 0;
  /** Wrong answers to calls of another plugin. */
  readonly failures: string[] = [];
  rounds = 0;
  readonly #service: Pick<RunningService, 'url' | 'apiKey'>;
  readonly #options: AttackRunOptions;
  #deck: HostilePlugin[] = [];

  constructor(service: Pick<RunningService, 'url' | 'apiKey'>, options: AttackRunOptions) {
    this.#service = service;
    this.#options = options;
  }

  /** Starts attacks for the given time. Resolves when the last ones have ended. */
  async run(ms: number): Promise<void> {
    const { random, paceMs } = this.#options;
    const end = performance.now() + ms;
    while (performance.now() < end) {
      const began = performance.now();
      const together = random() < TOGETHER ? 2 + Math.floor(random() * (MAX_TOGETHER - 1)) : 1;
      await Promise.all(this.#draw(together).map((plugin) => this.#attack(plugin)));
      await sleep(Math.max(0, began + paceMs - performance.now()));
    }
  }

  #draw(count: number): HostilePlugin[] {
    if (this.#deck.length === 0) {
      this.#deck = shuffled(this.#options.hostile, this.#options.random);
      this.rounds += 1;
    }
    return this.#deck.splice(0, count);
  }

  async #attack({ id, attack }: HostilePlugin): Promise<void> {
    const answer = await this.#answerOf(id);
    if (answer === null) return;
    const answeredAt = performance.now();
    const { end, tookMs } = answer;
    const [isRight, isLate] = [attack.ends.some((one) => one === end), tookMs > TIMEOUT_MS + LATE_MS];
    const contained = isRight && !isLate;
    const told = `${isRight && isLate ? 'too late, ' : ''}${end} after ${Math.round(tookMs)} ms: ${answer.status} ${answer.text}`;
    this.attempts.push({ attack: attack.name, end, at: answeredAt - tookMs, tookMs, contained, answer: told });
    if (!contained) this.#options.say(`uncontained: ${attack.name}: ${told}`);
    const [same, other] = await Promise.all([
      this.#recovery(id, { honest: true }, answeredAt, ({ data }) => data === HONEST),
      this.#recovery('greets', { name: id }, answeredAt, ({ text }) => text.includes(`Hello, ${id}!`)),
    ]);
    const { ms: sameMs, backedOff, wrong } = same;
    this.recoveries.push({ attack: attack.name, sameMs, otherMs: other.ms, backedOff, wrong });
    this.failures.push(...other.wrong.map((answer) => `after ${attack.name}: ${answer}`));
  }

  /** The answer to an attack; null if its plugin was refused at every try. */
  async #answerOf(plugin: string): Promise<Answer | null> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const answer = await callPlugin(this.#service, plugin, {}, { patienceMs: PATIENCE_MS });
      if (isBackOff(answer)) await this.#waitOut(answer);
      else if (isRefused(answer)) this.refused += 1;
      else return answer;
    }
    return null;
  }

  async #recovery(plugin: string, params: object, since: number, isRight: (answer: Answer) => boolean) {
    const wrong: string[] = [];
    let backedOff = false;
    for (;;) {
      const answer = await callPlugin(this.#service, plugin, params, { patienceMs: PROBE_PATIENCE_MS });
      const ms = performance.now() - since;
      if (answer.end === 'returned' && isRight(answer)) return { ms, backedOff, wrong };
      if (isBackOff(answer) && ms < BACK_OFF_PATIENCE_MS) {
        backedOff = true;
        await this.#waitOut(answer);
        continue;
      }
      wrong.push(`${plugin}: ${answer.status} ${answer.text}`);
      if (ms > PROBE_PATIENCE_MS) return { ms: null, backedOff, wrong };
      await sleep(AGAIN_MS);
    }
  }

  async #waitOut({ retryAfter }: Answer): Promise<void> {
    this.backOffs.push(retryAfter ?? 0);
    await sleep((retryAfter ?? 0) * 1_000);
  }
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ item }) => item);
}
