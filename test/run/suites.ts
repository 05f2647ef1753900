import { SHORT_LIVED } from '../support/run-folder.ts';

/** One folder of tests that is run as a whole. */
export interface Suite {
  readonly name: string;
  readonly folder: string;
  /** How long one file may take, unless the command says otherwise. */
  readonly secondsPerFile: number;
  /** Whether it is run only where it is asked for. */
  readonly onRequest?: boolean;
}

/**
 * All suites in the order in which they run: the fast ones first, and of those that always run, the one with the most
 * files last, so that nobody waits for a single long one at the end.
 */
export const suites: readonly Suite[] = [
  { name: 'architecture', folder: 'test/architecture', secondsPerFile: 120 },
  { name: 'unit', folder: 'test/unit', secondsPerFile: 180 },
  { name: 'e2e', folder: 'test/e2e', secondsPerFile: 240 },
  { name: 'integration', folder: 'test/integration', secondsPerFile: 240 },
  { name: 'slow', folder: 'test/slow', secondsPerFile: 240, onRequest: true },
];

/** The suite that a test file belongs to. */
export function suiteOf(file: string): Suite | undefined {
  return suites.find(({ folder }) => file.startsWith(`${folder}/`));
}

/**
 * Whether a file is run in a process in which others were run before it: what all of them load is loaded once. It is not
 * where it looks at its process as a whole, what is loaded for instance, and where it changes that: what it may open.
 */
export function sharesProcess(file: string): boolean {
  return /^test\/(unit|e2e|integration|slow)\//.test(file) && !ALONE.has(file);
}

const ALONE: ReadonlySet<string> = new Set([
  'test/slow/alerts-plugins.test.ts',
  'test/unit/src/http/schema-compilers.test.ts',
  'test/unit/src/services/settings/signer-directory.test.ts',
]);

/**
 * What Node is given to run a test file: isolated-vm asks for a heap that begins without Node's snapshot, which takes
 * longer to start; the unit tests of `src/` have no isolate in their own process.
 */
export function nodeOptions(file: string): readonly string[] {
  return file.startsWith('test/unit/src/') ? SHORT_LIVED : ['--no-node-snapshot', ...SHORT_LIVED];
}
