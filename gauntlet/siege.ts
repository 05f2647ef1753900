import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningService } from '../test/support/service.ts';
import { type Answer, callPlugin, isBackOff, isRefused } from './answer.ts';
import { ATTACK_TIMEOUT_S, type End, HONEST, type HostilePlugin } from './hostile-plugins.ts';

/** One attack and how it ended. */
export interface Attempt {
  readonly attack: string;
  readonly end: End;
  /** When it began, in milliseconds on the clock of `performance`. */
  readonly at: number;
  /** From the request until its answer was there, in milliseconds. */
  readonly tookMs: number;
  /** Whether it ended as it may, and in time. */
  readonly contained: boolean;
  readonly answer: string;
}

/**
 * What honest callers see of an attack, in milliseconds from the moment when its answer is there: until a call of the
 * same plugin is answered rightly, and one of another plugin; null: not within the patience.
 */
export interface Recovery {
  readonly attack: string;
  readonly sameMs: number | null;
  readonly otherMs: number | null;
  /** The plugin was refused meanwhile since its process was killed too often: that is no measure of recovery. */
  readonly backedOff: boolean;
  /** What calls of the same plugin got meanwhile. */
  readonly wrong: readonly string[];
}

export interface SiegeOptions {
  readonly hostile: readonly HostilePlugin[];
  /** In [0, 1). */
  random(): number;
  /** The least time from the beginning of one attack to that of the next, in milliseconds. */
  readonly paceMs: number;
  say(text: string): void;
}

/** What an attack's answer may take beyond the timeout of its plugin. */
const LATE_MS = 1_000;
const TIMEOUT_MS = ATTACK_TIMEOUT_S * 1_000;
/** An answer that comes this late is still of interest, though it counts as late. */
const PATIENCE_MS = TIMEOUT_MS + 30_000;
const PROBE_PATIENCE_MS = 30_000;
/** Longer than any back-off: a plugin that is refused on and on counts as lost. */
const BACK_OFF_PATIENCE_MS = 300_000;
const AGAIN_MS = 10;
/** How often several attack at once, and how many at most. */
const TOGETHER = 0.25;
const MOST_TOGETHER = 4;
const TRIES = 5;

/** The attacks of a run: in random order, round after round, some of them together. */
export class Siege {
  readonly attempts: Attempt[] = [];
  readonly recoveries: Recovery[] = [];
  /** How long plugins were said to be refused, in seconds. */
  readonly backOffs: number[] = [];
  /** How often an attack was refused for another reason, such as that no process was free, and so was not tried. */
  refused = 0;
  /** What calls of another plugin got in place of the right answer. */
  readonly failures: string[] = [];
  rounds = 0;
  readonly #service: Pick<RunningService, 'url' | 'apiKey'>;
  readonly #options: SiegeOptions;
  #deck: HostilePlugin[] = [];

  constructor(service: Pick<RunningService, 'url' | 'apiKey'>, options: SiegeOptions) {
    this.#service = service;
    this.#options = options;
  }

  /** Attacks until the time is over; the last ones are seen to their end. */
  async run(ms: number): Promise<void> {
    const { random, paceMs } = this.#options;
    const end = performance.now() + ms;
    while (performance.now() < end) {
      const began = performance.now();
      const together = random() < TOGETHER ? 2 + Math.floor(random() * (MOST_TOGETHER - 1)) : 1;
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

  /** The answer to an attack; null when its plugin is refused again and again. */
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
