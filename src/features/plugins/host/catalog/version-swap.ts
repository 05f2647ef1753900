import {
  endCodeFailure,
  type HostFailure,
  type LoadFailure,
  type PluginVersion,
} from '../../../../../sandbox/contract.ts';
import { positionInStack, type SourcePositions } from '../../../../../sandbox/host/sandbox.ts';
import type { FetchHostUse } from './fetch-hosts.ts';

/** A version that was built. */
export interface ServingVersion {
  version: PluginVersion;
  positions: SourcePositions;
  /** The bytes of memory that its bundle takes. */
  bytes: number;
  inputs: ReadonlySet<string>;
  /** When it began to serve, in milliseconds since the epoch. Before it serves: when it was built. */
  since: number;
  reads: Reads;
  /** What works, but should be changed. */
  warning?: string;
  /** True once a process has loaded it. When a later process cannot load it, that process is to blame. */
  isProven?: boolean;
  /** Why no process could load it so far. Its calls get this failure when there is no version before it. */
  unloadable?: HostFailure;
}

/** What a version wants from outside, as far as its code shows. */
export interface Reads extends FetchHostUse {
  /** Names of environment entries. */
  environment: string[];
}

/** The version is rejected when this many processes have died while they loaded it. */
const MAX_LOSSES = 3;

/**
 * Decides which version of one plugin serves. A new version takes over when a process has loaded it. Until then, and
 * when it does not load, calls run on the version before. So no call waits for a change, or fails because of one.
 */
export class VersionSwap {
  /** The version that calls run; undefined when no version ever compiled. */
  serving: ServingVersion | undefined;
  /** Why the newest version was refused. */
  private refused: HostFailure | undefined;
  private failingSince: number | undefined;
  /** The new version, while processes that serve the version before load it. */
  private next: ServingVersion | undefined;
  /** The version that served before. Kept until a process has loaded the one that serves. */
  private before: ServingVersion | undefined;
  private losses = 0;
  private readonly firstBuild = Promise.withResolvers<void>();
  /** Resolves when the first version was built, or could not be. */
  readonly isBuilt = this.firstBuild.promise;

  /** Why the newest version does not serve. */
  get failure(): HostFailure | undefined {
    return this.refused ?? this.serving?.unloadable;
  }

  /** Since when the newest version does not serve, in milliseconds since the epoch. */
  get failedAt(): number | undefined {
    return this.failure && this.failingSince;
  }

  /** The newest version that was built, whether it serves yet or not. */
  get newest(): ServingVersion | undefined {
    return this.next ?? this.serving;
  }

  /** The bytes of memory for the bundles of all versions that may still serve. */
  get bytes(): number {
    const kept = new Set([this.serving, this.next, this.before]);
    return [...kept].reduce((sum, version) => sum + (version?.bytes ?? 0), 0);
  }

  /**
   * Notes that a version was built.
   * @param tryOut makes the plugin's processes load it; false when there are none, and then the version serves at once
   */
  built(version: ServingVersion, tryOut: (version: PluginVersion) => boolean): void {
    this.firstBuild.resolve();
    this.refused = undefined;
    const { version: hash } = version.version;
    if (this.next?.version.version === hash) return;
    this.losses = 0;
    this.next = undefined;
    if (this.serving?.version.version === hash) return;
    if (this.serving !== undefined && tryOut(version.version)) this.next = version;
    else this.serve(version, this.before ?? this.serving);
  }

  /** Notes that the newest version could not be built. */
  broken(failure: HostFailure, now: number): void {
    this.firstBuild.resolve();
    if (this.failure?.message !== failure.message) this.failingSince = now;
    this.refused = failure;
  }

  /**
   * Notes that a process has loaded a version, or could not.
   * @returns whether the process's calls use that version, with its failure if it has one
   */
  loaded(hash: string, failure: LoadFailure | null, now: number): boolean {
    const { next, serving } = this;
    if (next?.version.version === hash) {
      if (failure === null) this.serve({ ...next, since: now, isProven: true }, undefined);
      else this.reject(hostFailure(failure, next), now);
      return failure === null;
    }
    if (serving?.version.version !== hash) return true;
    if (failure !== null && this.before !== undefined) {
      this.reject(hostFailure(failure, serving), now);
      return false;
    }
    this.before = undefined;
    if (failure === null) {
      serving.isProven = true;
      delete serving.unloadable;
    } else if (serving.isProven !== true) {
      const unloadable = hostFailure(failure, serving);
      if (this.failure?.message !== unloadable.message) this.failingSince = now;
      serving.unloadable = unloadable;
    }
    return true;
  }

  /**
   * Notes that a process ended while it loaded a version.
   * @param ofItself false when a call of the version before ended it
   */
  lost(hash: string, ofItself: boolean, tryOut: (version: PluginVersion) => boolean, now: number): void {
    const { next, before } = this;
    const isTried = next?.version.version === hash || (before !== undefined && this.serving?.version.version === hash);
    if (!isTried) return;
    if (ofItself) this.losses += 1;
    if (this.losses >= MAX_LOSSES)
      this.reject(endCodeFailure('SANDBOX_LOST', 'Its process ended while it was loaded'), now);
    else if (next !== undefined && !tryOut(next.version)) this.serve({ ...next, since: now }, this.serving);
  }

  private serve(version: ServingVersion, before: ServingVersion | undefined): void {
    this.serving = version;
    this.before = before;
    this.next = undefined;
  }

  private reject(failure: HostFailure, now: number): void {
    this.broken(failure, now);
    if (this.next === undefined) this.serving = this.before ?? this.serving;
    this.next = undefined;
    this.before = undefined;
  }
}

/** The state of a plugin. When it has no version and no failure, its first version is being compiled. */
export function stateOf({
  serving,
  failure,
}: Pick<VersionSwap, 'serving' | 'failure'>): 'serving' | 'broken' | 'compiling' {
  if (serving !== undefined && serving.unloadable === undefined) return 'serving';
  return failure === undefined ? 'compiling' : 'broken';
}

function hostFailure({ outcome, report }: LoadFailure, { positions, version }: ServingVersion): HostFailure {
  if (outcome.kind === 'returned') throw new Error('a version that failed to load returned something');
  const message = positions.mapped(outcome.message);
  const place = positionInStack(message) ?? { file: version.filename, line: null, column: null };
  return {
    code: outcome.code,
    message,
    status: 500,
    details: { pluginId: version.pluginId, ...place },
    report: positions.mapped(report),
  };
}
