import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { END_CODES, type EndCode } from '../../../sandbox/contract.ts';
import { composeService } from '../composed-service.ts';
import { descendantsOf, survivors } from '../processes.ts';
import type { Attack } from './attack.ts';
import { type Answer, type AttackStage, endOf, endsItself, openStage } from './stage.ts';

/** The processor time that a process has used, in clock ticks of 10 ms; 0 after it has ended. */
async function ticksOf(pid: number): Promise<number> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // proc_pid_stat(5): utime and stime are fields 14 and 15, the name in brackets is field 2.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return 0;
  }
}

const LOOK_MS = 300;

/** A third of one processor. */
const IDLE_TICKS = 10;

/**
 * Waits at most `limitMs` until the processes below the given one are idle. Resolves with the command lines of those
 * that are not.
 */
async function restlessBelow(pid: number, limitMs: number): Promise<string[]> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const children = await descendantsOf(pid);
    const before = await Promise.all(children.map((child) => ticksOf(child.pid)));
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    const after = await Promise.all(children.map((child) => ticksOf(child.pid)));
    const restless = children.filter((_, at) => (after[at] ?? 0) - (before[at] ?? 0) > IDLE_TICKS);
    if (restless.length === 0 || performance.now() > deadline) return restless.map(({ command }) => command);
  }
}

/**
 * The number of attacks tried of a row, if they have to be stopped. They are spread over the list. `npm run gauntlet`
 * tries all of them.
 */
const MAX_OF_A_ROW = 4;
/** The number of attacks at the same time. Each occupies a processor. */
const WIDTH = 2;
/** The time limit of honest calls. On an idle machine they take up to a second. */
const SERVED_WITHIN_MS = 8000;
const COMES_BACK_MS = 15_000;
const AGAIN_MS = 50;
const IDLE_WITHIN_MS = 10_000;
const GONE_WITHIN_MS = 5000;

/** An answer, and how long it took in milliseconds. */
interface Timed extends Answer {
  ms: number;
}

/** The results of one attack, and of the honest calls right after it. */
interface Course {
  end: string;
  answer: Answer;
  /** The next call of the same plugin. */
  same: Timed;
  /** A call of another plugin. */
  other: Timed;
}

/**
 * Attacks on one server. All of them are started at the beginning, a few at a time. The tests of each row check the
 * results.
 */
export class AttackRun {
  readonly stage: AttackStage;
  readonly #courses: Map<Attack, Promise<Course>>;
  readonly #looked = new Set<Attack>();

  private constructor(stage: AttackStage, attacks: readonly Attack[]) {
    this.stage = stage;
    const turns: Promise<unknown>[] = Array.from({ length: WIDTH }, () => Promise.resolve());
    this.#courses = new Map(
      attacks.map((attack, index) => {
        const course = (turns[index % WIDTH] ?? Promise.resolve()).then(() => courseOf(stage, attack));
        turns[index % WIDTH] = course.catch(() => undefined);
        return [attack, course];
      }),
    );
  }

  static async open(t: Test, all: readonly Attack[]): Promise<AttackRun> {
    const attacks = [...Map.groupBy(all, ({ threat }) => threat).values()].flatMap((row) => [
      ...row.filter((attack) => endsItself(attack)),
      ...spread(row.filter((attack) => !endsItself(attack))),
    ]);
    const stage = await openStage(t, attacks, composeService);
    await stage.service.call('honest');
    return new AttackRun(stage, attacks);
  }

  /** Asserts that every attack of one row of the threat list was contained. Null: attacks that belong to no row. */
  async assertContained(t: Test, threat: number | null): Promise<void> {
    const attacks = [...this.#courses.keys()].filter((attack) => attack.threat === threat);
    t.ok(attacks.length > 0, 'there is such an attack');
    for (const attack of attacks) {
      this.#looked.add(attack);
      const course = await this.#courses.get(attack);
      if (course !== undefined) assertCourse(t, attack, course);
    }
  }

  /** Asserts that no attack was left out, that none still runs, and that nothing outlives the server. */
  async assertOver(t: Test): Promise<void> {
    const { service } = this.stage;
    await Promise.all(this.#courses.values());
    const forgotten = [...this.#courses.keys()].filter((attack) => !this.#looked.has(attack));
    t.strictSame(forgotten, [], 'every attack was looked at');
    t.strictSame(await restlessBelow(process.pid, IDLE_WITHIN_MS), [], 'no process goes on working');
    const children = (await descendantsOf(process.pid)).filter(({ command }) => command.includes('isolayer-sandbox'));
    t.ok(children.length > 0, 'there are children to look for');
    await service.stop();
    t.strictSame(await survivors(children, GONE_WITHIN_MS), [], 'no process is left');
  }
}

/** Picks the attacks to try, at even distances in the list. */
function spread(attacks: readonly Attack[]): Attack[] {
  const distance = Math.max(1, attacks.length / MAX_OF_A_ROW);
  return attacks.filter((_, index) => Math.floor(index / distance) !== Math.floor((index - 1) / distance));
}

async function courseOf(stage: AttackStage, attack: Attack): Promise<Course> {
  const answer = await whenThereIsRoom(() => stage.attack(attack));
  const [same, other] = await Promise.all([
    timed(() => whenThereIsRoom(() => stage.service.call(stage.idOf(attack), { honest: true }))),
    timed(() => whenThereIsRoom(() => stage.service.call('honest'))),
  ]);
  return { answer, end: endOf(answer), same, other };
}

/** Repeats a call that is told to come back later. On an overloaded machine, no process may be ready in time. */
async function whenThereIsRoom(ask: () => Promise<Answer>): Promise<Answer> {
  const end = performance.now() + COMES_BACK_MS;
  for (;;) {
    const answer = await ask();
    if (endOf(answer) !== 'SERVICE_UNAVAILABLE' || performance.now() > end) return answer;
    await sleep(AGAIN_MS);
  }
}

async function timed(ask: () => Promise<Answer>): Promise<Timed> {
  const began = performance.now();
  const answer = await ask();
  return { ...answer, ms: Math.round(performance.now() - began) };
}

function assertCourse(t: Test, { name, ends }: Attack, { answer, end, same, other }: Course): void {
  const said = JSON.stringify(answer.body.error ?? answer.body.data).slice(0, 300);
  t.ok(
    ends.some((one) => one === end),
    `${name}: ends with ${end} of ${ends.join(', ')}: ${said}`,
  );
  if (end in END_CODES) t.equal(answer.status, END_CODES[end as EndCode].status, `${name}: ${end} has its status`);
  t.match(
    answer.body.metadata?.logs?.[0],
    { level: 'log', message: 'before' },
    `${name}: its logs are kept, ${end}: ${said}`,
  );
  t.match(same, { status: 200, body: { data: 'honest' } }, `${name}: the same plugin serves`);
  t.strictSame(same.body.metadata?.logs, [], `${name}: and hears nothing of the attack`);
  t.match(other, { status: 200, body: { data: 'honest' } }, `${name}: another plugin serves`);
  const slower = Math.max(same.ms, other.ms);
  t.ok(slower < SERVED_WITHIN_MS, `${name}: honest calls are served after ${slower} ms`);
}
