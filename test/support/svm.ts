import { join } from 'node:path';
import { Counterpart } from './counterpart/counterpart.ts';
import type { Fault } from './counterpart/faults.ts';
import type { Command, OnChain, SvmOptions } from './svm/control.ts';

/** A real SVM behind Solana's JSON-RPC, in a process of its own. All its endpoints share one ledger. */
export interface Svm extends SvmEndpoint {
  /** Adds lamports at once and at every commitment, without a transaction. */
  airdrop(key: string, lamports: bigint): Promise<void>;
  /** Sets an account at once, at every commitment and past all programs. */
  setAccount(key: string, account: { lamports: bigint; data: Uint8Array; owner: string }): Promise<void>;
  /** Puts a program (an ELF file's bytes) on the chain. */
  addProgram(key: string, bytes: Uint8Array): Promise<void>;
  /** No blocks by the timer until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** So many blocks at once; the first takes up all that waits. */
  tick(blocks?: number): Promise<void>;
  /** So many slots without a block, so that heights and slots differ more. */
  skipSlots(slots: number): Promise<void>;
  /** As many blocks as it takes until no blockhash that was ever given is valid. */
  expireBlockhashes(): Promise<void>;
  /** The next transactions are accepted and never reach a block. */
  dropNext(count: number): Promise<void>;
  /** From now on an accepted transaction waits for so many blocks more than the next. */
  landLater(blocks: number): Promise<void>;
  /**
   * The newest blocks vanish with all they did, as those of a fork that lost; a new one follows. Not those that are final.
   * @param options `again`: their transactions wait for the next block
   */
  fork(blocks: number, options?: { again?: boolean }): Promise<void>;
  /** What `getRecentPrioritizationFees` tells of every slot, for an account or at least: micro-lamports a unit. */
  setPrioritizationFee(microLamports: number, key?: string): Promise<void>;
  /** Every transaction on the chain, in its order: the judge of what was executed. */
  landed(): Promise<OnChain[]>;
  /** A further endpoint over the same ledger, so many blocks behind. */
  endpoint(options?: { behind?: number }): Promise<SvmEndpoint>;
  /** Safe to call twice. */
  stop(): Promise<void>;
}

/** One node of the chain. */
export interface SvmEndpoint {
  readonly url: string;
  /** One call, past all faults but those of the endpoint. @throws Error with the node's text */
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>;
  /** How often a method was called. */
  calls(method: string): Promise<number>;
  /** The signatures of all transactions that were offered here, in the order of arrival, whatever became of them. */
  offers(): Promise<string[]>;
  /** The node sees only what is so many blocks old. */
  setBehind(blocks: number): Promise<void>;
  /** `getHealth` and preflights answer -32005: with the number of slots behind, or without one. */
  setIll(illness: number | 'unknown' | null): Promise<void>;
  /** All that is final now leaves the node's history: statuses, transactions, blocks. */
  pruneHistory(): Promise<void>;
  /** Makes calls fail, lie or wait; faults are taken in the order in which they were given. */
  fault(fault: Fault): Promise<void>;
  clearFaults(): Promise<void>;
}

/** Starts it on a free port of loopback; it ends with this process. */
export async function startSvm(options: SvmOptions = {}): Promise<Svm> {
  const main = join(import.meta.dirname, 'svm', 'server-main.ts');
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
