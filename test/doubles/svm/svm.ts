import { join } from 'node:path';
import { Counterpart } from '../counterpart/counterpart.ts';
import type { Fault } from '../counterpart/faults.ts';
import type { Command, OnChain, SvmOptions } from './control.ts';

/** A real SVM behind Solana's JSON-RPC, in a process of its own. All its endpoints share one ledger. */
export interface Svm extends SvmEndpoint {
  /** Adds lamports at once and at every commitment, without a transaction. */
  airdrop(key: string, lamports: bigint): Promise<void>;
  /** Sets an account at once, at every commitment and past all programs. */
  setAccount(key: string, account: { lamports: bigint; data: Uint8Array; owner: string }): Promise<void>;
  /** Puts a program (an ELF file's bytes) on the chain. */
  addProgram(key: string, bytes: Uint8Array): Promise<void>;
  /** Stops making blocks by the timer until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Makes that many blocks at once. The first takes all waiting transactions. */
  tick(blocks?: number): Promise<void>;
  /** Skips that many slots without a block, so that heights and slots differ more. */
  skipSlots(slots: number): Promise<void>;
  /** Makes blocks until no earlier blockhash is valid. */
  expireBlockhashes(): Promise<void>;
  /** Accepts the next transactions, and never puts them into a block. */
  dropNext(count: number): Promise<void>;
  /** Delays transactions: from now on an accepted one waits for that many blocks more than the next. */
  landLater(blocks: number): Promise<void>;
  /**
   * Removes the newest blocks and all their effects, like a fork that lost. A new block follows. Final blocks stay.
   * @param options `again`: their transactions wait for the next block
   */
  fork(blocks: number, options?: { again?: boolean }): Promise<void>;
  /**
   * Sets the answer of `getRecentPrioritizationFees` for every slot, in micro-lamports a unit: for an account, or the
   * minimum.
   */
  setPrioritizationFee(microLamports: number, key?: string): Promise<void>;
  /** Every transaction on the chain, in order. It shows what was really executed. */
  landed(): Promise<OnChain[]>;
  /** A further endpoint over the same ledger, so many blocks behind. */
  endpoint(options?: { behind?: number }): Promise<SvmEndpoint>;
  /** Safe to call twice. */
  stop(): Promise<void>;
}

/** One node of the chain. */
export interface SvmEndpoint {
  readonly url: string;
  /**
   * Makes one call. Only the endpoint's own faults apply.
   * @throws Error with the node's text
   */
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>;
  /** How often a method was called. */
  calls(method: string): Promise<number>;
  /** The signatures of all transactions offered here, in the order of arrival, whatever their outcome. */
  offers(): Promise<string[]>;
  /** Makes the node so many blocks old. */
  setBehind(blocks: number): Promise<void>;
  /** Makes `getHealth` and preflights answer -32005: with the number of slots behind, or without a number. */
  setIll(illness: number | 'unknown' | null): Promise<void>;
  /** Removes everything that is final now from the node's history: statuses, transactions, blocks. */
  pruneHistory(): Promise<void>;
  /** Makes calls fail, lie or wait. Faults apply in the order in which they were given. */
  fault(fault: Fault): Promise<void>;
  clearFaults(): Promise<void>;
}

/** Starts it on a free port of loopback; it ends with this process. */
export async function startSvm(options: SvmOptions = {}): Promise<Svm> {
  const main = join(import.meta.dirname, 'server-main.ts');
  const control = await Counterpart.start<Command>(main, options);
  const first = await endpointAt(control, 0, 0);
  let opened = 1;
  const life = options.blockhashLife ?? 150;
  return {
    ...first,
    airdrop: (key, lamports) => control.do({ kind: 'fund', key, lamports: String(lamports) }),
    setAccount: (key, { lamports, data, owner }) =>
      control.do({ kind: 'write', key, lamports: String(lamports), data: base64(data), owner }),
    addProgram: (key, bytes) => control.do({ kind: 'program', key, bytes: base64(bytes) }),
    pause: () => control.do({ kind: 'pause' }),
    resume: () => control.do({ kind: 'resume' }),
    tick: (blocks = 1) => control.do({ kind: 'tick', blocks }),
    skipSlots: (slots) => control.do({ kind: 'skip', slots }),
    expireBlockhashes: () => control.do({ kind: 'tick', blocks: life + 1 }),
    dropNext: (count) => control.do({ kind: 'drop', count }),
    landLater: (blocks) => control.do({ kind: 'delay', blocks }),
    fork: (blocks, { again = false } = {}) => control.do({ kind: 'fork', blocks, again }),
    setPrioritizationFee: (microLamports, key) =>
      control.do({ kind: 'prioritization-fee', microLamports, ...(key === undefined ? {} : { key }) }),
    landed: async () => (await control.ask({ kind: 'landed' })) as OnChain[],
    endpoint: ({ behind = 0 } = {}) => endpointAt(control, opened++, behind),
    stop: () => control.stop(),
  };
}

async function endpointAt(control: Counterpart<Command>, endpoint: number, behind: number): Promise<SvmEndpoint> {
  const url = String(await control.ask({ kind: 'open', behind }));
  return {
    url,
    rpc: (method, params = []) => call(url, method, params),
    async calls(method) {
      const counts = (await control.ask({ kind: 'calls', endpoint })) as Record<string, number>;
      return counts[method] ?? 0;
    },
    offers: async () => (await control.ask({ kind: 'offers', endpoint })) as string[],
    setBehind: (blocks) => control.do({ kind: 'behind', endpoint, blocks }),
    setIll: (illness) => control.do({ kind: 'illness', endpoint, illness }),
    pruneHistory: () => control.do({ kind: 'prune', endpoint }),
    fault: (fault) => control.do({ kind: 'fault', endpoint, fault }),
    clearFaults: () => control.do({ kind: 'clear-faults', endpoint }),
  };
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');

async function call(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const answer = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}
