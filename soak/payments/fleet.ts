import { setTimeout as sleep } from 'node:timers/promises';
import type { LifeStep } from '../../src/engine/lane/life-steps.ts';
import { type RunningService, startService } from '../../test/support/service.ts';

/** At which occurrence of which step a process ends itself. */
export interface LastStep {
  step: LifeStep;
  occurrence: number;
}

/** How the processes of a run ended. */
export interface Deaths {
  atRandom: number;
  readonly atStep: Map<LifeStep, number>;
  /** The last words of processes that ended although nobody killed them. */
  readonly byThemselves: string[];
}

/** What `server.ts` says before it ends itself. */
const END = /ends at step ([\w-]+)/;
/** How often an instance is started before it counts as unable to. */
const STARTS = 10;
const START_AGAIN_MS = 1_000;
/** After how many of the others one that is to end itself is killed as they are. */
const OUTLIVED = 2;

interface Slot {
  readonly instance: number;
  service: RunningService | null;
  armed: LastStep | null;
  /** How many others were killed while it was to end itself. */
  outlived: number;
  killed: boolean;
}

/** What there is to start: so many instances, each with its environment. */
export interface Instances {
  readonly instances: number;
  environmentOf(instance: number): Record<string, string>;
  /** A database that may be away at the moment; null where it is embedded. */
  readonly postgres: object | null;
}

/** The instances of the service: started, killed and started again on the same data. */
export class Fleet {
  readonly deaths: Deaths = { atRandom: 0, atStep: new Map(), byThemselves: [] };
  readonly #world: Instances;
  readonly #slots: Slot[];
  readonly #services: RunningService[] = [];
  #turn = 0;
  #waiting: (() => void)[] = [];
  #closed = false;

  constructor(world: Instances) {
    this.#world = world;
    const slot = (instance: number): Slot => ({ instance, service: null, armed: null, outlived: 0, killed: false });
    this.#slots = Array.from({ length: world.instances }, (_, instance) => slot(instance));
  }

  /** What all processes wrote so far, one after the other. */
  get output(): string {
    return this.#services.map(({ pid, output }) => `process ${pid}\n${output()}`).join('\n');
  }

  /** Whether a process lives that is to end itself. */
  get isArmed(): boolean {
    return this.#slots.some(({ service, armed }) => service !== null && armed !== null);
  }

  /** Starts what is not running; the first of those ends itself at the given step. */
  async startMissing(last?: LastStep): Promise<void> {
    let next = last;
    for (const slot of this.#slots) {
      if (slot.service !== null) continue;
      await this.#start(slot, next ?? null);
      next = undefined;
    }
  }

  /** Those that run. */
  get running(): RunningService[] {
    return this.#slots.flatMap(({ service }) => service ?? []);
  }

  /** One that runs, in turns; waits for one to be started when none does. */
  async pick(): Promise<RunningService> {
    for (;;) {
      const { running } = this;
      this.#turn += 1;
      const service = running[this.#turn % running.length];
      if (service !== undefined) return service;
      if (this.#closed) throw new Error('no instance runs any more');
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Resolves with true when a process has ended by itself within the given milliseconds. */
  async endsWithin(ms: number): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<boolean>();
    const limit = setTimeout(() => resolve(false), ms);
    const ends = this.#slots.flatMap(({ service }) => service?.exited.then(() => true) ?? []);
    try {
      return await Promise.race([late, ...ends]);
    } finally {
      clearTimeout(limit);
    }
  }

  /**
   * SIGKILL for one of those that run, by a number in [0, 1). One that is to end itself comes late: when the others are
   * gone, their lanes become its own, and with them its step.
   */
  async killOne(unit: number): Promise<void> {
    const running = this.#slots.filter(({ service }) => service !== null);
    const first = running.filter(({ armed, outlived }) => armed === null || outlived >= OUTLIVED);
    const victims = first.length > 0 ? first : running;
    for (const slot of running) slot.outlived += 1;
    await this.#kill(victims[Math.floor(unit * victims.length)]);
  }

  /**
   * Stops one of those that run where it is, for so long: connections stay, and it hears of nothing.
   * @param unit in [0, 1)
   */
  async freezeOne(unit: number, ms: number): Promise<void> {
    const { running } = this;
    const service = running[Math.floor(unit * running.length)];
    if (service === undefined) return;
    process.kill(service.pid, 'SIGSTOP');
    await Promise.race([sleep(ms), service.exited]);
    if (this.#slots.some((slot) => slot.service === service)) process.kill(service.pid, 'SIGCONT');
  }

  /** SIGKILL for those that would still end themselves. */
  async disarm(): Promise<void> {
    for (const slot of this.#slots.filter(({ armed }) => armed !== null)) await this.#kill(slot);
  }

  /** Ends all of them, in good order where they can. Safe to call twice. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const slot of this.#slots) {
      slot.killed = true;
      await slot.service?.kill();
    }
    this.#wakeWaiting();
  }

  async #kill(slot: Slot | undefined): Promise<void> {
    if (slot?.service == null) return;
    slot.killed = true;
    await slot.service.kill();
    // What is noted of its end comes before anybody starts it again.
    await Promise.resolve();
  }

  async #start(slot: Slot, last: LastStep | null, tries = 1): Promise<void> {
    slot.killed = false;
    slot.armed = last;
    slot.outlived = 0;
    const env = this.#world.environmentOf(slot.instance);
    let service: RunningService;
    try {
      service =
        last === null
          ? await startService(env)
          : await startService({ ...env, SOAK_DIE_AT: `${last.step}:${last.occurrence}` }, 'soak/payments/server.ts');
    } catch (error) {
      // It may come to its step before it says that it is ready.
      slot.armed = null;
      // A database that is away at the moment ends a start.
      if (this.#world.postgres !== null && tries < STARTS && !END.test(String(error))) {
        await sleep(START_AGAIN_MS);
        return await this.#start(slot, last, tries + 1);
      }
      this.#note(String(error), null, false);
      return;
    }
    slot.service = service;
    this.#services.push(service);
    void service.exited.then(async (code) => {
      const { killed } = slot;
      slot.service = null;
      slot.armed = null;
      // Its last words may be on their way.
      await service.drained;
      this.#note(service.output(), code, killed);
    });
    this.#wakeWaiting();
  }

  #note(output: string, code: number | null, wasKilled: boolean): void {
    const step = END.exec(output)?.[1] as LifeStep | undefined;
    if (step !== undefined) this.deaths.atStep.set(step, (this.deaths.atStep.get(step) ?? 0) + 1);
    else if (wasKilled && !this.#closed) this.deaths.atRandom += 1;
    else if (!wasKilled) this.deaths.byThemselves.push(`exit code ${code}: ${output.slice(-2_000)}`);
  }

  #wakeWaiting(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
