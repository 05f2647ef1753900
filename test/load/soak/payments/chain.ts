import type { CrashPoint } from '../../../../src/engine/lane/lane-step.ts';
import type { CallFaults } from '../../../support/faults/faults.ts';
import type { Execution, Shown as Outcome } from '../../../support/model/judge.ts';
import type { AnswerBody } from '../../../support/service.ts';
import type { Workspace } from '../../../support/workspace.ts';
import type { Intention } from './intention.ts';

/** The parts of a soak that depend on the chain family. The other parts know no family. */
export interface SoakChain {
  /** Shown in the report. */
  readonly name: string;
  /** The steps that its transactions pass. */
  readonly steps: readonly CrashPoint[];
  /** The possible faults of calls to one endpoint. */
  callFaults(): CallFaults;
  /** Starts a new chain. */
  start(): Promise<Nodes>;
}

/** A running chain without relayers. */
export interface Nodes {
  /** The network's entry in the configuration, without its endpoints. */
  readonly settings: object;
  /** Opens that many endpoints. */
  endpoints(count: number): Promise<NodeEndpoint[]>;
  /** Declares relayers in a workspace and funds their accounts. */
  settle(workspace: Workspace): Promise<SoakNetwork>;
  /** Safe to call twice. */
  stop(): Promise<void>;
}

/** One of a chain's endpoints, without any fault proxy. */
export interface NodeEndpoint {
  readonly url: string;
  /** Sets how far the node is behind, as a share of its maximum from 0 to 1. Absent if nodes cannot fall behind. */
  setBehind?(share: number): Promise<void>;
}

/** A chain with relayers. */
export interface SoakNetwork {
  readonly relayerIds: readonly string[];
  /** The requests of a run. The same seed gives the same requests, except for accounts. Called once. */
  planOf(seed: number, count: number): Intention[];
  /** A request with which a client may replace this one; undefined if there is none. */
  replacementOf(seed: number, original: Intention): Intention | undefined;
  /** A transaction as the API shows it. */
  readShown(transaction: AnswerBody): Shown;
  /** @param random in [0, 1) */
  startFaultSchedule(options: { changes: boolean; random(): number }): FaultSchedule;
  /** @param shown returns the transactions that the API showed so far */
  startStranger(random: () => number, shown: () => readonly Shown[]): Stranger;
  /** Reads the chain directly, without the service and the fault proxies. */
  readChain(intentions: readonly Intention[]): Promise<ChainReading>;
}

/** The parts of a transaction in the API that the verdict uses. */
export interface Shown extends Omit<Outcome, 'endedAt'> {
  readonly id: string;
  /** Signed bytes that anybody can send to a node; null if the API shows none. */
  readonly bytes: string | null;
}

/** Random events on the network while a soak runs. */
export interface FaultSchedule {
  /** How often each kind of event happened. */
  readonly counts: ReadonlyMap<string, number>;
  /** Ends all events. From then on blocks come regularly and stay. Safe to call twice. */
  clear(): Promise<void>;
  /** Clears the schedule of faults, and ends the blocks that it makes at regular times. Safe to call twice. */
  stop(): Promise<void>;
}

/** Sends transactions of the relayers' accounts directly to a node, without the service. */
export interface Stranger {
  /** How many of its transactions a node accepted. */
  readonly sent: number;
  /** Safe to call twice. */
  stop(): Promise<void>;
}

/** What a run did on the chain. */
export interface ChainReading {
  /** Executed transactions of the run that the verdict must explain. */
  readonly executions: readonly Execution[];
  /** By index: how often the effect is in the state. */
  readonly effects: ReadonlyMap<number, bigint>;
  /** By index: when a client's own bytes became invalid for every block, in milliseconds since the epoch. */
  readonly diedAt: ReadonlyMap<number, number>;
  /** Whether the network always refuses the request with this mark. */
  isRefused(mark: string): boolean;
  /** Errors on the accounts, by the chain and by the transactions that the API shows. See `Verdict`. */
  judgeAccounts(shown: readonly Shown[]): { gaps: string[]; wrong: string[] };
}
