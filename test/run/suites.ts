/** One folder of tests that is run as a whole. */
export interface Suite {
  readonly name: string;
  readonly folder: string;
  /** How long one file may take, unless the command says otherwise. */
  readonly secondsPerFile: number;
  readonly measuresCoverage: boolean;
}

/** All suites in the order in which they run: the fast ones first. */
export const suites: readonly Suite[] = [
  { name: 'architecture', folder: 'test/architecture', secondsPerFile: 60, measuresCoverage: false },
  { name: 'unit', folder: 'test/unit', secondsPerFile: 60, measuresCoverage: true },
  { name: 'integration', folder: 'test/integration', secondsPerFile: 60, measuresCoverage: false },
  { name: 'e2e', folder: 'test/e2e', secondsPerFile: 180, measuresCoverage: false },
];

/** The suite that a test file belongs to. */
export function suiteOf(file: string): Suite | undefined {
  return suites.find(({ folder }) => file.startsWith(`${folder}/`));
}
