import type { LoadFailure, PluginVersion } from '../../../sandbox/protocol.ts';
import type { NetworkUse } from '../compiler/network-use.ts';
import { placeIn, type SourcePositions } from '../compiler/source-positions.ts';
import { ended, type HostFailure } from '../outcome.ts';

/** A version that was built. */
export interface ServingVersion {
  version: PluginVersion;
  positions: SourcePositions;
  /** What it takes to keep its bundle. */
  bytes: number;
  inputs: ReadonlySet<string>;
  /** Since when it serves, in milliseconds since the epoch; before that, when it was built. */
  since: number;
  reads: Reads;
  /** A process has loaded it: where a later one cannot, that is put down to that process. */
  isProven?: boolean;
  /** Why no process can load it, or could so far: its calls are answered with that where no version is before it. */
  unloadable?: HostFailure;
}

/** What a version's text shows that it wants from outside. */
export interface Reads extends NetworkUse {
  /** Names of environment entries. */
  environment: string[];
}

/** Processes that may die under a new version before that is put down to the version. */
const MOST_LOSSES = 3;

/**
 * Which version of one plugin serves. A new one takes over at the moment at which a process has loaded it; until then,
 * and when that fails, calls run on the one before it, so that no call waits for a change or fails of one.
 */
export class VersionSwap {
  /** What calls run; undefined when no version ever compiled. */
  serving: ServingVersion | undefined;
  /** Why the newest version was refused. */
  private refused: HostFailure | undefined;
  private failingSince: number | undefined;
  /** Built, and being loaded by processes that serve the one before. */
  private next: ServingVersion | undefined;
  /** What served before, while no process has loaded the one that serves. */
  private before: ServingVersion | undefined;
  private losses = 0;

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

  /** What it takes to keep the bundles of all versions that may still serve. */
  get bytes(): number {
    const kept = new Set([this.serving, this.next, this.before]);
    return [...kept].reduce((sum, version) => sum + (version?.bytes ?? 0), 0);
  }

  /**
   * A version was built.
   * @param tryOut has the plugin's processes load it; false when there are none: then it serves at once
   */
  built(version: ServingVersion, tryOut: (version: PluginVersion) => boolean): void {
    this.refused = undefined;
    const { version: hash } = version.version;
    if (this.next?.version.version === hash) return;
    this.losses = 0;
    this.next = undefined;
    if (this.serving?.version.version === hash) return;
    if (this.serving !== undefined && tryOut(version.version)) this.next = version;
    else this.serve(version, this.before ?? this.serving);
  }

  /** The newest version could not be built. */
  broken(failure: HostFailure, now: number): void {
    if (this.failure?.message !== failure.message) this.failingSince = now;
    this.refused = failure;
  }

  /**
   * A process has loaded a version, or could not.
   * @returns whether calls are to meet that version, and its failure, in that process
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
   * A process ended while it loaded a version.
   * @param ofItself false when a call of the version before was its end
   */
  lost(hash: string, ofItself: boolean, tryOut: (version: PluginVersion) => boolean, now: number): void {
    const { next, before } = this;
    const isTried = next?.version.version === hash || (before !== undefined && this.serving?.version.version === hash);
    if (!isTried) return;
    if (ofItself) this.losses += 1;
    if (this.losses >= MOST_LOSSES) this.reject(ended('SANDBOX_LOST', 'Its process ended while it was loaded'), now);
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

/** How a plugin stands by its versions: without any, and nothing that failed, its first one is being compiled. */
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
  const place = placeIn(message) ?? { file: version.filename, line: null, column: null };
  return {
    code: outcome.code,
    message,
    status: 500,
    details: { pluginId: version.pluginId, ...place },
    report: positions.mapped(report),
  };
}
