import type { ChainClient } from '../../../src/chains/chain-client.ts';
import type { Store } from '../../../src/store/store.ts';
import type { fc } from '../properties.ts';
import type { Case, Truth } from './judge.ts';

/** A world in which an engine runs through a history. There is one class for each kind of chain. */
export interface ModelWorld<Event> {
  /** Performs an event, on the engine or on its surroundings. */
  happen(event: Event): Promise<void>;
  /** Lets the engine make that many calls to the chain. */
  goOn(calls: number): Promise<void>;
  /** Removes all faults. Lets time pass until all accepted transactions have ended and no work is left. */
  end(): Promise<void>;
  /** Returns what the service reports, and what really happened. */
  evidence(): Promise<{ cases: readonly Case[]; truth: Truth }>;
  close(): Promise<void>;
}

/** A kind of world: what can happen in it, and how one is made. */
export interface WorldKind<Event> {
  readonly name: string;
  /** Whether blocks can be undone. */
  readonly hasForks: boolean;
  readonly events: fc.Arbitrary<Event>;
  open(options: WorldOptions): Promise<ModelWorld<Event>>;
}

export interface WorldOptions {
  /** Selects one of two variants of a chain, which differ for instance in how nodes treat nonce gaps. */
  readonly strict: boolean;
  readonly mutant?: Mutant | undefined;
  /** The time limit for the end of a history. A mutant may never reach the end. */
  readonly endMs?: number;
  /** Stops a history that is no longer needed. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * An engine with one error, to test that the judge finds it. One of its parts behaves wrongly. The mutant wraps these
 * parts and does not change the code, so it keeps working when the engine changes.
 */
export interface Mutant {
  readonly name: string;
  /** The events in which the error shows, in addition to accepted requests. */
  readonly showsIn: readonly string[];
  /** The worlds in which it differs from the engine; absent: all. */
  isWrongIn?(kind: AnyWorldKind): boolean;
  /** Wraps the engine's client of the chain. */
  client?(client: ChainClient): ChainClient;
  /** Wraps the engine's store. */
  store?(store: Store): Store;
}

/** A kind of world with any type of events. */
// oxlint-disable-next-line typescript/no-explicit-any -- as below
// biome-ignore lint/suspicious/noExplicitAny: a kind both makes its events and takes them
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyWorldKind = WorldKind<any>;
