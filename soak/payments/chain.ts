import type { LifeStep } from '../../src/engine/lane/life-steps.ts';
import type { CallFaults } from '../../test/support/faults/faults.ts';
import type { Execution, Shown as Outcome } from '../../test/support/model/judge.ts';
import type { AnswerBody } from '../../test/support/service.ts';
import type { Workspace } from '../../test/support/workspace.ts';
import type { Intention } from './intention.ts';

/** What a chain brings to a soak. Nothing else of the soaks knows a family. */
export interface SoakChain {
  /** For the report. */
  readonly name: string;
  /** The steps that its transactions pass. */
  readonly steps: readonly LifeStep[];
  /** What can befall the calls to one endpoint. */
  callFaults(): CallFaults;
  /** Starts a chain of its own. */
  start(): Promise<Nodes>;
}

/** A running chain, before anybody uses it. */
export interface Nodes {
  /** The network's entry in the configuration, but for its endpoints. */
  readonly settings: object;
  /** So many endpoints. */
  endpoints(count: number): Promise<NodeEndpoint[]>;
  /** Writes relayers into a workspace and gives their accounts funds. */
  settle(workspace: Workspace): Promise<SoakNetwork>;
  /** Safe to call twice. */
  stop(): Promise<void>;
}

/** One of a chain's endpoints, past all faults. */
export interface NodeEndpoint {
  readonly url: string;
  /** Has the whole node fall behind by a share of what it can; 0 is not at all. Absent where nodes cannot. */
  setBehind?(share: number): Promise<void>;
}

/** A chain with relayers. */
export interface SoakNetwork {
  readonly relayerIds: readonly string[];
  /** The requests of a run, the same for the same seed but for the accounts. Called once. */
  planOf(seed: number, count: number): Intention[];
  /** What a client may want in the place of a request, if anything. */
  replacementOf(seed: number, original: Intention): Intention | undefined;
  /** A transaction as the API shows it. */
  readShown(transaction: AnswerBody): Shown;
  /** @param random in [0, 1) */
  startWeather(options: { changes: boolean; random(): number }): Weather;
  /** @param shown what the API showed so far */
  startStranger(random: () => number, shown: () => readonly Shown[]): Stranger;
  /** Reads the chain past everything under test. */
  readChain(intentions: readonly Intention[]): Promise<ChainReading>;
}

/** A transaction as the API shows it, as far as the verdict looks at it. */
export interface Shown extends Omit<Outcome, 'endedAt'> {
  readonly id: string;
  /** Signed bytes that anybody can offer; null where none are shown. */
  readonly bytes: string | null;
}

/** What happens on the network while a soak runs. */
export interface Weather {
  /** How often what happened. */
  readonly counts: ReadonlyMap<string, number>;
  /** Blocks come and stay, and nothing else happens from now on. Safe to call twice. */
  clear(): Promise<void>;
  /** Clear, and no block is made for the sake of time any more. Safe to call twice. */
  stop(): Promise<void>;
}

/** Somebody else who sends from the relayers' accounts, straight to the node. */
export interface Stranger {
  /** How often a node took what it sent. */
  readonly sent: number;
  /** Safe to call twice. */
  stop(): Promise<void>;
}

/** What the chain itself says of a run. */
export interface ChainReading {
  /** Everything in blocks that the relayers' accounts paid for. */
  readonly executions: readonly Execution[];
  /** By index: how often the effect is in the state. */
  readonly effects: ReadonlyMap<number, bigint>;
  /** By index: when no block could take a client's own bytes any more, in milliseconds since the epoch, where that is so. */
  readonly diedAt: ReadonlyMap<number, number>;
  /** Whether the network refuses this for good. */
  isRefused(mark: string): boolean;
  /** What is left open on the accounts, and what is wrong with what the API shows of them. */
  judgeAccounts(shown: readonly Shown[]): { gaps: string[]; wrong: string[] };
}
