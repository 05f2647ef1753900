/** One failure that relayers have had, and the tests that show that it does not happen here. */
export interface Failure {
  what: string;
  /** Where the thing that failed does not exist here at all. */
  why?: string;
  /** Files below `test/` without their ending, each with the titles of its tests. */
  shown: Readonly<Record<string, string | readonly string[]>>;
}
