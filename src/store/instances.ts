/** The list of instances on one database. It uses the database's time, so instances' clocks need not agree. */
export interface Instances {
  /** How long a report counts, in milliseconds. An instance that has not reported for longer is gone. */
  readonly lastsMs: number;
  /**
   * Reports that this instance runs, and the relayers whose chains it does not reach. Resolves with the last such
   * report of each other running instance.
   */
  say(unreached: readonly string[]): Promise<ReadonlySet<string>[]>;
  /** Reports that this instance stops. Safe to call twice. */
  leave(): Promise<void>;
}
