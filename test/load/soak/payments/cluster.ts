import { setTimeout as sleep } from 'node:timers/promises';
import type { CrashPoint } from '../../../../src/engine/lane/lane-step.ts';
import { type RunningService, startService } from '../../../support/service.ts';

/** The step, and its occurrence from 1 on, at which a process kills itself. */
export interface LastStep {
  step: CrashPoint;
  occurrence: number;
}

/** How the processes of a run ended. */
export interface Deaths {
  atRandom: number;
  readonly atStep: Map<string, number>;
  /** The last output of processes that ended although nobody killed them. */
  readonly byThemselves: string[];
}

/** Matches what `server.ts` writes before it kills itself. */
const END = /ends at step ([\w-]+)/;
/** How often the start of an instance is tried. */
const STARTS = 10;
const START_AGAIN_MS = 1_000;
/** An armed process may be killed at random after this many kills. */
const OUTLIVED = 2;

interface Slot {
  readonly instance: number;
  service: RunningService | null;
  /** The step at which the process kills itself; null if it does not. */
  armed: LastStep | null;
  /** How many kills at random were made while it ran. */
  outlived: number;
  killed: boolean;
}

/** The instances to start. */
export interface Instances {
  readonly instances: number;
  environmentOf(instance: number): Record<string, string>;
  /** What composes the service; absent: its own entry. */
  readonly entry?: string;
  /** A database server, which may be down at times; null if the database is embedded. */
  readonly postgres: object | null;
}

/** The instances of the service. They are started, killed and started again on the same data. */
export class Cluster {
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

  /** The output of all processes so far, one process after the other. */
  get output(): string {
    return this.#services.map(({ pid, output }) => `process ${pid}\n${output()}`).join('\n');
  }

  /** Whether a running process is to kill itself. */
  get isArmed(): boolean {
    return this.#slots.some(({ service, armed }) => service !== null && armed !== null);
  }

  /** Starts the instances that do not run. The first of them kills itself at the given step. */
  async startMissing(last?: LastStep): Promise<void> {
    let next = last;
    for (const slot of this.#slots) {
      if (slot.service !== null) continue;
      await this.#start(slot, next ?? null);
      next = undefined;
    }
  }

  /** The running instances. */
  get running(): RunningService[] {
    return this.#slots.flatMap(({ service }) => service ?? []);
  }

  /** A running instance, in turns. Waits for a start if none runs. @throws after {@link close} */
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

  /** Whether a process ends within the given milliseconds. */
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
   * Kills a running instance with SIGKILL. Prefers unarmed ones: when they end, an armed one takes over their lanes and
   * so comes to its step.
   * @param unit chooses the instance; in [0, 1)
   */
  async killOne(unit: number): Promise<void> {
    const running = this.#slots.filter(({ service }) => service !== null);
    const first = running.filter(({ armed, outlived }) => armed === null || outlived >= OUTLIVED);
    const victims = first.length > 0 ? first : running;
    for (const slot of running) slot.outlived += 1;
    await this.#kill(victims[Math.floor(unit * victims.length)]);
  }

  /**
   * Stops a running instance with SIGSTOP for the given milliseconds. Its connections stay open.
   * @param unit chooses the instance; in [0, 1)
   */
  async freezeOne(unit: number, ms: number): Promise<void> {
    const { running } = this;
    const service = running[Math.floor(unit * running.length)];
    if (service === undefined) return;
    process.kill(service.pid, 'SIGSTOP');
    await Promise.race([sleep(ms), service.exited]);
    if (this.#slots.some((slot) => slot.service === service)) process.kill(service.pid, 'SIGCONT');
  }

  /** Kills the processes that are still to kill themselves. */
  async disarm(): Promise<void> {
    for (const slot of this.#slots.filter(({ armed }) => armed !== null)) await this.#kill(slot);
  }

  /** Ends all instances. Safe to call twice. */
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
    // Lets the handler of `exited` run before the instance is started again.
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
          ? await startService(env, this.#world.entry)
          : await startService(
              { ...env, SOAK_DIE_AT: `${last.step}:${last.occurrence}` },
              'test/load/soak/payments/server.ts',
            );
    } catch (error) {
      // The process may have reached its step before it was ready.
      slot.armed = null;
      // A start fails if the database is down at that moment.
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
      // The last output may not have been read yet.
      await service.drained;
      this.#note(service.output(), code, killed);
    });
    this.#wakeWaiting();
  }

  #note(output: string, code: number | null, wasKilled: boolean): void {
    const step = END.exec(output)?.[1];
    if (step !== undefined) this.deaths.atStep.set(step, (this.deaths.atStep.get(step) ?? 0) + 1);
    else if (wasKilled && !this.#closed) this.deaths.atRandom += 1;
    else if (!wasKilled) this.deaths.byThemselves.push(`exit code ${code}: ${output.slice(-2_000)}`);
  }

  #wakeWaiting(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
