/** One folder of tests that is run as a whole. */
export interface Suite {
  readonly name: string;
  readonly folder: string;
  /** How long one file may take, unless the command says otherwise. */
  readonly secondsPerFile: number;
  /**
   * Coverage needs tap's own runner, which loads its hooks into every process that a test starts. The other suites run
   * their files as plain programs, so that what they start has exactly the environment that it has in production.
   */
  readonly runner: 'coverage' | 'plain';
}

/** All suites in the order in which they run: the fast ones first. */
export const suites: readonly Suite[] = [
  { name: 'architecture', folder: 'test/architecture', secondsPerFile: 120, runner: 'plain' },
  { name: 'unit', folder: 'test/unit', secondsPerFile: 60, runner: 'coverage' },
  { name: 'integration', folder: 'test/integration', secondsPerFile: 60, runner: 'plain' },
  { name: 'e2e', folder: 'test/e2e', secondsPerFile: 180, runner: 'plain' },
];

/** The suite that a test file belongs to. */
export function suiteOf(file: string): Suite | undefined {
  return suites.find(({ folder }) => file.startsWith(`${folder}/`));
}
