import { setTimeout as sleep } from 'node:timers/promises';

/** A fault of calls at one endpoint. The network does not know of it. */
export interface Fault {
  /** Names of JSON-RPC methods, or of Horizon's routes with the prefix `horizon.`. Absent: all. */
  methods?: readonly string[];
  /** Applies only to calls whose parameters, as JSON, contain this text. */
  holding?: string;
  /** The number of calls that it applies to. Absent: all, until the faults are cleared. */
  times?: number;
  /** What happens to the call; undefined: only a delay. */
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
  /** The call is performed. These fields replace fields of its result; null removes a field. */
  | { kind: 'merge'; fields: Readonly<Record<string, unknown>> }
  /** The call is not performed. The answer is any status with any body, as from a proxy in front of the node. */
  | { kind: 'http'; status: number; body?: string; headers?: Readonly<Record<string, string>> }
  | { kind: 'hang' }
  /** The connection ends without an answer, before anything is performed. */
  | { kind: 'refuse' }
  /** The call is performed, and the connection ends without an answer. */
  | { kind: 'cut' };

/** Faults that replace the whole answer. */
export type Broken = Extract<FaultAct, { kind: 'http' | 'hang' | 'refuse' | 'cut' }>;

export class BrokenAnswer extends Error {
  readonly broken: Broken;

  constructor(broken: Broken) {
    super(broken.kind);
    this.broken = broken;
  }
}

/** The answer of a fault to a call that was not performed. */
export class FaultError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The faults of one endpoint. The first fault that matches a call applies to it. */
export class Faults {
  #faults: Fault[] = [];

  add(fault: Fault): void {
    this.#faults.push({ ...fault });
  }

  clear(): void {
    this.#faults = [];
  }

  /**
   * Performs a call with its fault.
   * @throws BrokenAnswer, FaultError and the call's own errors
   */
  async during(name: string, call: () => unknown, params?: unknown): Promise<unknown> {
    const fault = this.#take(name, params);
    if (fault === undefined) return call();
    const { act } = fault;
    if (fault.beforeMs !== undefined) await sleep(fault.beforeMs);
    if (act?.kind === 'error') throw new FaultError(act.code, act.message, act.data);
    if (act?.kind === 'hang' || act?.kind === 'http' || act?.kind === 'refuse') throw new BrokenAnswer(act);
    const [result] = await Promise.allSettled([act?.kind === 'result' ? act.result : Promise.try(call)]);
    if (fault.afterMs !== undefined) await sleep(fault.afterMs);
    // The client gets no answer, whatever the call's outcome.
    if (act?.kind === 'cut') throw new BrokenAnswer(act);
    if (result.status === 'rejected') throw result.reason;
    return act?.kind === 'merge' ? merged(result.value, act.fields) : result.value;
  }

  /** Takes the fault of this call, and counts it as used. */
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
