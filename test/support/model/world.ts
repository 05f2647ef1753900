import type { ChainClient } from '../../../src/chains/chain-client.ts';
import type { Store } from '../../../src/store/store.ts';
import type { fc } from '../properties.ts';
import type { Case, Truth } from './judge.ts';

/** A world in which an engine lives through a history. One class for each way in which chains can be. */
export interface ModelWorld<Event> {
  /** Something happens, to the engine or around it. */
  happen(event: Event): Promise<void>;
  /** Lets the engine live for so many of its calls to the chain. */
  goOn(calls: number): Promise<void>;
  /** Everything works again, and time goes on until all that was accepted has ended and nothing is left to do. */
  end(): Promise<void>;
  /** What the service says, and what happened. */
  evidence(): Promise<{ cases: readonly Case[]; truth: Truth }>;
  close(): Promise<void>;
}

/** A kind of world: what can happen in it, and how one is made. */
export interface WorldKind<Event> {
  readonly name: string;
  /** Whether what is in a block can be taken back. */
  readonly hasForks: boolean;
  readonly events: fc.Arbitrary<Event>;
  open(options: WorldOptions): Promise<ModelWorld<Event>>;
}

export interface WorldOptions {
  /** How nodes treat what leaves a gap, and the like: the same kind of chain comes in two sorts. */
  readonly strict: boolean;
  readonly mutant?: Mutant | undefined;
  /** How long the end of a history may take; a mutant may never come to it. */
  readonly endMs?: number;
  /** Ends a history that is of no interest any more. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * An engine that does wrong in one way, to see that the judge sees it: one of its parts is not what it should be. A
 * mutant stands between the parts and not in the code, so it outlives every change of the engine.
 */
export interface Mutant {
  readonly name: string;
  /** The events in which it shows, besides that something is accepted. */
  readonly showsIn: readonly string[];
  /** The worlds in which it differs from the engine; absent: all. */
  isWrongIn?(kind: AnyWorldKind): boolean;
  /** The engine's way to the chain. */
  client?(client: ChainClient): ChainClient;
  /** The engine's store. */
  store?(store: Store): Store;
}

/** A kind of world whose events are its own business. */
// oxlint-disable-next-line typescript/no-explicit-any -- as below
// biome-ignore lint/suspicious/noExplicitAny: a kind both makes its events and takes them
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyWorldKind = WorldKind<any>;
