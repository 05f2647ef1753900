import { setTimeout as sleep } from 'node:timers/promises';

/** What befalls calls at one endpoint, without the network's knowledge. */
export interface Fault {
  /** Names of JSON-RPC methods, or of Horizon's routes behind `horizon.`. Absent: all. */
  methods?: readonly string[];
  /** Only calls whose parameters, as JSON, hold this text. */
  holding?: string;
  /** How many calls; absent: until the faults are cleared. */
  times?: number;
  /** Undefined does nothing but delay. */
  act?: FaultAct;
  /** Waits before the call is performed. */
  beforeMs?: number;
  /** Waits after it, before the answer. */
  afterMs?: number;
}

export type FaultAct =
  /** A JSON-RPC error, or a problem of Horizon with this status and type; the call is not performed. */
  | { kind: 'error'; code: number; message: string; data?: unknown }
  /** The call is not performed. */
  | { kind: 'result'; result: unknown }
  /** The call is performed; these fields of its result are others, or gone where they are null. */
  | { kind: 'merge'; fields: Readonly<Record<string, unknown>> }
  /** Not performed: any status with any body, as of a proxy before the node. */
  | { kind: 'http'; status: number; body?: string; headers?: Readonly<Record<string, string>> }
  | { kind: 'hang' }
  /** The connection ends without an answer, before anything is performed. */
  | { kind: 'refuse' }
  /** The call is performed, and the connection ends without an answer. */
  | { kind: 'cut' };

/** What goes out instead of an answer. */
export type Broken = Extract<FaultAct, { kind: 'http' | 'hang' | 'refuse' | 'cut' }>;

export class BrokenAnswer extends Error {
  readonly broken: Broken;

  constructor(broken: Broken) {
    super(broken.kind);
    this.broken = broken;
  }
}

/** A fault's own answer to a call that was not performed. */
export class FaultError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The faults of one endpoint; the first that fits befalls a call. */
export class Faults {
  #faults: Fault[] = [];

  add(fault: Fault): void {
    this.#faults.push({ ...fault });
  }

  clear(): void {
    this.#faults = [];
  }

  /** Performs a call as its fault has it. @throws BrokenAnswer, FaultError and what the call throws */
  async during(name: string, call: () => unknown, params?: unknown): Promise<unknown> {
    const fault = this.#take(name, params);
    if (fault === undefined) return call();
    const { act } = fault;
    if (fault.beforeMs !== undefined) await sleep(fault.beforeMs);
    if (act?.kind === 'error') throw new FaultError(act.code, act.message, act.data);
    if (act?.kind === 'hang' || act?.kind === 'http' || act?.kind === 'refuse') throw new BrokenAnswer(act);
    const [result] = await Promise.allSettled([act?.kind === 'result' ? act.result : Promise.try(call)]);
    if (fault.afterMs !== undefined) await sleep(fault.afterMs);
    // Whatever the call came to, nobody is told.
    if (act?.kind === 'cut') throw new BrokenAnswer(act);
    if (result.status === 'rejected') throw result.reason;
    return act?.kind === 'merge' ? merged(result.value, act.fields) : result.value;
  }

  /** The fault of this call, which is used up by it. */
  #take(name: string, params: unknown): Fault | undefined {
    const asked = JSON.stringify(params ?? []);
    const index = this.#faults.findIndex(
      ({ methods, holding = '' }) => (methods === undefined || methods.includes(name)) && asked.includes(holding),
    );
    const fault = this.#faults[index];
    if (fault === undefined || fault.times === undefined) return fault;
    fault.times -= 1;
    if (fault.times <= 0) this.#faults.splice(index, 1);
    return fault;
  }
}

function merged(result: unknown, fields: Readonly<Record<string, unknown>>): unknown {
  const all = { ...(result as Record<string, unknown>), ...fields };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}
