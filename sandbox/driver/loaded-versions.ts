import { ProtocolViolation } from '../frames.ts';
import { DEFAULT_LIMITS, type Limits, type LoadedMessage, type LoadFailure, type PluginVersion } from '../protocol.ts';

/** What the driver keeps of a version after the child has its code. */
export interface LoadedVersion {
  readonly version: string;
  readonly limits: Limits;
  /** Why it cannot be served, or null. */
  readonly failure: LoadFailure | null;
}

/** The child itself serves the current version and the one before it. */
const KEPT = 2;

/** The versions that a child was given, in the order in which it will answer. */
export class LoadedVersions {
  readonly #expected: PluginVersion[] = [];
  /** Newest first. */
  #loaded: LoadedVersion[] = [];

  /** True while an answer is due. */
  get loading(): boolean {
    return this.#expected.length > 0;
  }

  /** The limits of the newest version. They hold for the process as a whole. */
  get limits(): Limits {
    return this.#expected.at(-1)?.limits ?? this.#loaded[0]?.limits ?? DEFAULT_LIMITS;
  }

  /** Longest result that any version may have, in bytes. */
  get resultBytes(): number {
    return Math.max(0, ...this.#loaded.map(({ limits }) => limits.result_bytes));
  }

  find(version: string): LoadedVersion | undefined {
    return this.#loaded.find((known) => known.version === version);
  }

  expect(version: PluginVersion): void {
    this.#expected.push(version);
  }

  /** @throws ProtocolViolation when another answer was due */
  answered({ version, failure }: LoadedMessage): void {
    const expected = this.#expected.shift();
    if (expected?.version !== version) throw new ProtocolViolation('LOADED names another version than LOAD');
    // A version that failed replaces only an earlier failure; the served versions stay.
    const served = this.#loaded.filter((known) => known.failure === null && known.version !== version);
    this.#loaded = [
      { version, limits: expected.limits, failure },
      ...served.slice(0, failure === null ? KEPT - 1 : KEPT),
    ];
  }
}
