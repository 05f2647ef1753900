import { SHORT_LIVED } from '../support/run-folder.ts';

/** A folder of tests that run together. */
export interface Suite {
  readonly name: string;
  readonly folder: string;
  /** The time limit of one file, unless the command sets another. */
  readonly secondsPerFile: number;
  /** Whether the suite only runs on request. */
  readonly onRequest?: boolean;
}

/**
 * All suites, in the order of their runs. Fast suites come first. The largest suite that always runs comes last, so
 * that the end of a run does not wait for a single long file.
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
 * Whether a file can share a process with other files, so that common modules load once. Files that inspect or change
 * their whole process need their own, for example those that look at loaded modules or limit open files.
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
 * The Node options for a test file. isolated-vm needs a heap without Node's snapshot, which starts more slowly. The
 * unit tests of `src/` have no isolate in their own process.
 */
export function nodeOptions(file: string): readonly string[] {
  return file.startsWith('test/unit/src/') ? SHORT_LIVED : ['--no-node-snapshot', ...SHORT_LIVED];
}
