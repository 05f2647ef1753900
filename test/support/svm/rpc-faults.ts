/** What befalls calls at one endpoint, without the ledger's knowledge. */
export interface RpcFault {
  /** Absent: all methods. */
  methods?: readonly string[];
  /** How many calls; absent: until the faults are cleared. */
  times?: number;
  /** Undefined does nothing but delay. */
  act?: RpcAct;
  /** Waits before the call is performed. */
  beforeMs?: number;
  /** Waits after it, before the answer. */
  afterMs?: number;
}

export type RpcAct =
  /** The call is not performed. */
  | { kind: 'error'; code: number; message: string; data?: unknown }
  | { kind: 'result'; result: unknown }
  | { kind: 'http'; status: number; body?: string; headers?: Readonly<Record<string, string>> }
  | { kind: 'hang' }
  /** The call is performed, and the connection ends without an answer. */
  | { kind: 'cut' };

/** The faults of one endpoint; the first that fits befalls a call. */
export class RpcFaults {
  #faults: RpcFault[] = [];

  add(fault: RpcFault): void {
    this.#faults.push({ ...fault });
  }

  clear(): void {
    this.#faults = [];
  }

  /** The fault of this call, which is used up by it. */
  take(method: string): RpcFault | undefined {
    const index = this.#faults.findIndex(({ methods }) => methods === undefined || methods.includes(method));
    const fault = this.#faults[index];
    if (fault === undefined || fault.times === undefined) return fault;
    fault.times -= 1;
    if (fault.times <= 0) this.#faults.splice(index, 1);
    return fault;
  }
}
