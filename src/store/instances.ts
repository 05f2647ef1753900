/** What the instances on one database say of themselves. Time is the database's, so that no clock need agree. */
export interface Instances {
  /** How long a word counts, in milliseconds: who has said nothing for longer is gone. */
  readonly lastsMs: number;
  /**
   * Says that this instance is there, and the chains of which relayers it does not reach. Resolves with what each other
   * instance that is there has last said of the same.
   */
  say(unreached: readonly string[]): Promise<ReadonlySet<string>[]>;
  /** Says that this instance goes. Safe to call twice. */
  leave(): Promise<void>;
}
