import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, matchesGlob, relative } from 'node:path';
import { houseRules } from '../architecture/rules.ts';
import { listFiles, sideBySide, sourceFolders, toolEnvironment, toolFolder } from './project.ts';

/** What a checker said and read. One that read less than there is has failed, whatever it says itself. */
interface Reading {
  readonly offences: string;
  readonly read: Iterable<string>;
  readonly expected: readonly string[];
}

/** One checker of the repository. */
export interface Check {
  readonly name: string;
  run(root: string): Promise<Reading>;
}

/** Made by `npm run client`, and written nowhere else: it has no form to check. */
const GENERATED: ReadonlySet<string> = new Set([
  'src/client/api.ts',
  'sandbox/guest/capability-stubs.ts',
  'sandbox/guest/sdk/capabilities.ts',
  'sandbox/guest/sdk/names.ts',
]);
const CRUISER = join(import.meta.dirname, '..', '..', '.dependency-cruiser.mjs');
/** The native compiler takes a tenth of the time. `typescript` is there for its API. */
const COMPILER = '../typescript-native/bin/tsc';

export const checks = {
  format: {
    name: 'biome',
    async run(root) {
      const { ok, stdout, stderr } = await tool(root, 'biome', 'check', '--error-on-warnings', '--verbose', '.');
      const [report = '', list = ''] = stdout.split(/ VERBOSE .*\n/);
      const read = [...list.matchAll(/^ *- (.+)$/gm)].map(([, path = '']) => path.trim());
      const offences = ok ? '' : `${stderr}${report}\nnpm run format puts most of this right.`;
      return { offences, read, expected: listWritten(root) };
    },
  },
  lint: {
    name: 'oxlint',
    async run(root) {
      const list = await tool(root, 'oxlint', '--debug=files', '.');
      const { ok, stdout, stderr } = await tool(root, 'oxlint', '--type-aware', '--deny-warnings', '.');
      return { offences: ok ? '' : `${stdout}${stderr}`, read: list.stdout.split('\n'), expected: listWritten(root) };
    },
  },
  types: typesOf('.', (file) => !/^(console|plugins|sandbox\/guest)\//.test(file)),
  consoleTypes: typesOf('console', (file) => file.startsWith('console/'), ['src/client/client.ts']),
  guestTypes: typesOf('sandbox/guest', (file) => file.startsWith('sandbox/guest/')),
  // Without our own module the compiler would quietly take the public package of that name.
  pluginTypes: typesOf('examples', (file) => file.startsWith('plugins/'), ['sandbox/guest/modules/relayer-sdk.ts']),
  imports: {
    name: 'dependency-cruiser',
    async run(root) {
      const expected = listFiles(root, sourceFolders);
      const places = sourceFolders.filter((one) => one !== 'plugins' && existsSync(join(root, one)));
      const plugins = expected.filter((file) => file.startsWith('plugins/'));
      const args = ['--config', CRUISER, '--output-type', 'json', ...places, ...plugins];
      const { stdout, stderr } = await tool(root, 'depcruise', ...args);
      if (!stdout.startsWith('{')) throw new Error(`dependency-cruiser gave no report: ${stderr}${stdout}`);
      const { modules, summary } = JSON.parse(stdout) as Cruise;
      const offences = summary.violations.map(
        ({ rule, from, to, cycle }) => `${rule.name}: ${from} → ${cycle?.map(({ name }) => name).join(' → ') ?? to}`,
      );
      return { offences: offences.join('\n'), read: modules.map(({ source }) => source), expected };
    },
  },
  deadCode: {
    name: 'knip',
    async run(root) {
      const { ok, stdout, stderr } = await tool(root, 'knip', '--no-progress', '--treat-config-hints-as-errors');
      const read = (file: string): unknown => JSON.parse(readFileSync(join(root, file), 'utf8'));
      const spaces = Object.entries((read('knip.json') as KnipFile).workspaces);
      const all = (key: 'entry' | 'project') =>
        spaces.flatMap(([folder, space]) => (space[key] ?? []).map((pattern) => join(folder, pattern)));
      const [entry, project] = [all('entry'), all('project')];
      const { scripts = {} } = read('package.json') as { scripts?: Record<string, string> };
      // knip says nothing about an entry that is gone, and then looks at nothing that only that entry uses.
      const entries = [...entry, ...Object.values(scripts).flatMap((line) => line.match(/\S+\.ts\b/g) ?? [])];
      const gone = entries.filter((path) => !/[*{]/.test(path) && !existsSync(join(root, path)));
      const expected = listFiles(root, sourceFolders);
      return {
        offences: [ok ? '' : `${stdout}${stderr}`, ...gone.map((path) => `${path} is an entry that does not exist`)]
          .join('\n')
          .trim(),
        read: expected.filter((path) => [...entry, ...project].some((pattern) => matchesGlob(path, pattern))),
        expected,
      };
    },
  },
  house: {
    name: 'architecture',
    async run(root) {
      const texts = listFiles(root, [...sourceFolders, 'config', 'docs', '.ci'], '**/*.{ts,js,mjs,json,md}');
      const expected = [...new Set([...texts, ...listFiles(root, ['.'], '*.{md,json,mjs,ts}')])];
      const files = expected.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
      const offences = Object.entries(houseRules).flatMap(([name, rule]) =>
        rule(files).map((offence) => `${name}: ${offence}`),
      );
      return { offences: offences.join('\n'), read: expected, expected };
    },
  },
} satisfies Record<string, Check>;

interface Cruise {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: {
    readonly violations: readonly {
      readonly from: string;
      readonly to: string;
      readonly rule: { readonly name: string };
      readonly cycle?: readonly { readonly name: string }[];
    }[];
  };
}

interface KnipFile {
  readonly workspaces: Readonly<Record<string, { readonly entry?: string[]; readonly project?: string[] }>>;
}

/**
 * The compiler over one project.
 * @param finds files from elsewhere that the project must have found; otherwise something else was checked
 */
function typesOf(path: string, isOurs: (file: string) => boolean, finds: readonly string[] = []): Check {
  return {
    name: `tsc -p ${path}`,
    async run(root) {
      const { ok, stdout, stderr } = await tool(root, COMPILER, '-p', path, '--listFiles', '--pretty', 'false');
      const [files, rest] = partition(stdout.split('\n'), (line) => /^(\/|[A-Z]:).*\.(ts|json)$/i.test(line));
      const own = listFiles(root, sourceFolders).filter(isOurs);
      return {
        offences: ok ? '' : `${rest.join('\n')}${stderr}`,
        read: files.map((line) => relative(root, line).replaceAll('\\', '/')),
        expected: own.length === 0 ? [] : [...own, ...finds],
      };
    },
  };
}

function partition(lines: readonly string[], is: (line: string) => boolean): [string[], string[]] {
  return [lines.filter(is), lines.filter((line) => !is(line))];
}

function listWritten(root: string): string[] {
  return listFiles(root, sourceFolders).filter((path) => !GENERATED.has(path));
}

/** Runs all checks, two at a time, and prints each in its turn. Returns whether all passed. */
export async function runChecks(all: readonly Check[], root: string, print: (text: string) => void): Promise<boolean> {
  if (all.length === 0) throw new Error('There is no check to run.');
  let failed = 0;
  for await (const { name, looked, failures, seconds } of sideBySide(all, 2, (check) => judge(check, root))) {
    if (failures.length > 0) failed += 1;
    print(`${failures.length === 0 ? 'ok    ' : 'FAILED'} ${name} (${looked} files, ${seconds.toFixed(1)} s)`);
    for (const failure of failures) print(failure.trim().replaceAll(/^/gm, '    '));
  }
  print(failed === 0 ? `All ${all.length} checks passed.` : `${failed} of ${all.length} checks failed.`);
  return failed === 0;
}

/** A check that throws has failed; the others still run. */
export async function judge({ name, run }: Check, root: string) {
  const start = performance.now();
  const failures: string[] = [];
  let looked = 0;
  try {
    const { offences, read, expected } = await run(root);
    if (offences !== '') failures.push(offences);
    const known = new Set(read);
    const missed = expected.filter((path) => !known.has(path));
    if (missed.length > 0) failures.push(`${name} never read:\n${missed.join('\n')}`);
    if (expected.length === 0) failures.push(`There is no file for ${name} to read.`);
    looked = expected.length - missed.length;
  } catch (error) {
    failures.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  return { name, looked, failures, seconds: (performance.now() - start) / 1000 };
}

/** Runs one of the repository's tools over a folder to its end. */
function tool(root: string, name: string, ...args: string[]): Promise<{ ok: boolean; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const options = { cwd: root, env: toolEnvironment(), maxBuffer: Number.POSITIVE_INFINITY };
    execFile(join(toolFolder, name), args, options, (error, stdout, stderr) => {
      const reason = error === null || typeof error.code === 'number' ? '' : error.message;
      resolve({ ok: error === null, stdout, stderr: `${stderr}${reason}` });
    });
  });
}
