/**
 * Judges the tests: puts one small fault after the other into a copy of the tree, and runs the tests that reach it. A
 * fault that no test catches is a behaviour that nobody checks. Two runs before and after a change of the suite say
 * whether it still catches as much.
 *
 *   git worktree add --detach /tmp/copy <commit> && cp -al node_modules /tmp/copy/node_modules
 *   bin/node test/load/mutants.ts --tree /tmp/copy --out before.json [--count 100] [--seed 1]
 *   bin/node test/load/mutants.ts --tree /tmp/other-copy --out after.json --list before.json
 *
 * Both write as they go, and go on where they stopped. `<out>.coverage.json` says which tests run which mutants; delete
 * it when the tests have changed. `--no-cover` judges by what coverage is there.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { writeTestLibrary } from '../run/test-library.ts';
import { findAgain, listSites, type Mutant, type Site } from './mutate.ts';

/** How many of a hundred mutants lie in each part. */
const SHARES = new Map([
  ['src/engine', 22],
  ['src/chains', 32],
  ['src/store', 18],
  ['sandbox', 16],
  ['src/http', 12],
]);
const TESTS = ['test/unit/**/*.test.ts', 'test/integration/**/*.test.ts', 'sandbox/test/**/*.test.ts'];
const FILE_MS = 240_000;

interface TestRun {
  readonly test: string;
  readonly ok: boolean;
  readonly ms: number;
  /** The mutants that it runs, by their numbers. */
  readonly reached: readonly number[];
}

interface Verdict extends Mutant {
  readonly number: number;
  readonly tests: number;
  readonly verdict: 'caught' | 'survived' | 'out of time' | 'not reached' | 'not found';
  readonly by?: string;
  /** Where it was found again. */
  readonly now?: string | undefined;
  readonly seconds?: number;
}

const { values } = parseArgs({
  options: {
    tree: { type: 'string', default: '.' },
    out: { type: 'string', default: 'mutants.json' },
    list: { type: 'string' },
    count: { type: 'string', default: '100' },
    // Judges more of those that were chosen, for what will not be found again.
    judge: { type: 'string' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '100' },
    'no-cover': { type: 'boolean', default: false },
  },
});
const tree = resolve(values.tree);
const work = mkdtempSync(join(tmpdir(), 'isolayer-mutants-'));
process.once('exit', () => rmSync(work, { recursive: true, force: true }));
const hook = await writeHook();
const running = new Set<ChildProcess>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    for (const child of running) killGroup(child);
    restore();
    process.exit(130);
  });
}

restore();
const sites = listSites(tree, [...SHARES.keys()]);
const list = values.list === undefined ? undefined : (readJson(values.list) as Verdict[]);
const chosen = list === undefined ? choose(sites) : list.map((one) => findAgain(one, sites));
const runs = await cover();
await judge();

/** Three times as many as asked for, because not all are reached by a test. At most one of a function's each kind. */
function choose(all: readonly Site[]): (Site | undefined)[] {
  const random = randomOf(Number(values.seed));
  return [...SHARES].flatMap(([folder, share]) => {
    const taken = new Set<string>();
    return all
      .filter(({ file }) => file.startsWith(`${folder}/`))
      .map((site) => ({ site, order: random() }))
      .toSorted((a, b) => a.order - b.order)
      .filter(({ site }) => !taken.has(site.name) && taken.add(site.name))
      .slice(0, Math.ceil((share * Number(values.count) * 3) / 100))
      .map(({ site }) => site);
  });
}

/** Runs every test once under V8's coverage. */
async function cover(): Promise<TestRun[]> {
  const file = `${values.out}.coverage.json`;
  const done = existsSync(file) ? (readJson(file) as TestRun[]) : [];
  if (values['no-cover']) return done;
  const known = new Set(done.map(({ test }) => test));
  const waiting = TESTS.flatMap((pattern) => globSync(pattern, { cwd: tree }).toSorted()).filter(
    (test) => !known.has(test),
  );
  const worker = async (number: number) => {
    for (let test = waiting.shift(); test !== undefined; test = waiting.shift()) {
      const folder = join(work, `coverage-${number}`);
      const { ok, ms } = await runTest(test, FILE_MS, { NODE_V8_COVERAGE: folder });
      // Node hands the variable on to every process, which tests of empty environments notice.
      done.push({ test, ok: ok || (await runTest(test, FILE_MS)).ok, ms, reached: reachedIn(folder) });
      rmSync(folder, { recursive: true, force: true });
      if (done.length % 20 === 0 || waiting.length === 0) {
        writeJson(file, done);
        console.log(`covered by ${done.length} tests, ${waiting.length} to go`);
      }
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, (_, number) => worker(number)));
  return done;
}

interface Script {
  readonly url: string;
  readonly functions: readonly { ranges: readonly { startOffset: number; endOffset: number; count: number }[] }[];
}

/** The mutants whose place ran. Types are stripped in place, so that offsets stay those of the source. */
function reachedIn(folder: string): number[] {
  const reached = new Set<number>();
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const text = readFileSync(join(folder, name), 'utf8');
    const { result } = (text.endsWith('}') ? JSON.parse(text) : { result: [] }) as { result: readonly Script[] };
    const scripts = new Map(result.map((script) => [script.url, script]));
    for (const [number, site] of chosen.entries()) {
      const script = site && scripts.get(String(pathToFileURL(join(tree, site.file))));
      if (site && script && countAt(script, site.start) > 0) reached.add(number);
    }
  }
  return [...reached];
}

/** How often the code at an offset ran: the count of the smallest range around it. */
function countAt({ functions }: Script, offset: number): number {
  let smallest = { startOffset: 0, endOffset: Infinity, count: 0 };
  for (const { ranges } of functions) {
    for (const range of ranges) {
      if (range.startOffset > offset || range.endOffset <= offset) continue;
      if (range.endOffset - range.startOffset <= smallest.endOffset - smallest.startOffset) smallest = range;
    }
  }
  return smallest.count;
}

async function judge(): Promise<void> {
  const verdicts = existsSync(values.out) ? (readJson(values.out) as Verdict[]) : [];
  const known = new Set(verdicts.map(({ number }) => number));
  for (const number of inTurn()) {
    const site = chosen[number];
    const wanted = list?.[number];
    if (known.has(number) || (wanted !== undefined && wanted.verdict === 'not found')) continue;
    const of = site ?? wanted;
    if (of === undefined || isFull(of.file, verdicts)) continue;
    const verdict = site === undefined ? ({ verdict: 'not found', tests: 0 } as const) : await judgeOne(number, site);
    // A mutant that no test reaches is not one of the hundred. It stays in a list that was given.
    if (verdict.verdict === 'not reached' && list === undefined) continue;
    const { name, kind, text, replacement, file, nth } = wanted ?? of;
    verdicts.push({
      number,
      name,
      kind,
      text,
      replacement,
      file,
      nth,
      now: site && `${site.file} ${site.name}`,
      ...verdict,
    });
    writeJson(values.out, verdicts);
    console.log(
      `${verdicts.length}. ${verdict.verdict}: ${file} ${name}, ${kind}: ${text.slice(0, 60)} ${verdict.by ?? ''}`,
    );
  }
  const counts = Object.groupBy(verdicts, ({ verdict }) => verdict);
  for (const [verdict, some] of Object.entries(counts)) console.log(`${some.length} ${verdict}`);
  if (list === undefined) return;
  const slipped = verdicts.filter(
    (one) => list[one.number]?.verdict === 'caught' && !['caught', 'not found'].includes(one.verdict),
  );
  console.log(`${slipped.length} were caught and are not caught now`);
  for (const { file, name, kind, text, verdict } of slipped)
    console.log(`  ${file} ${name}, ${kind}: ${text} (${verdict})`);
  process.exitCode = slipped.length === 0 ? 0 : 1;
}

/** The parts take turns by their shares, so that a run that is stopped has judged some of each. */
function inTurn(): number[] {
  const ranks = new Map<string, number>();
  const turns = chosen.map((site, number) => {
    const [folder = '', share = 1] = shareOf(site?.file ?? list?.[number]?.file ?? '');
    const rank = ranks.get(folder) ?? 0;
    ranks.set(folder, rank + 1);
    return { number, turn: rank / share };
  });
  return turns.toSorted((a, b) => a.turn - b.turn).map(({ number }) => number);
}

function shareOf(file: string): readonly [folder?: string, share?: number] {
  return [...SHARES].find(([folder]) => file.startsWith(`${folder}/`)) ?? [];
}

function isFull(file: string, verdicts: readonly Verdict[]): boolean {
  if (list !== undefined) return false;
  const [folder = '', share = 0] = shareOf(file);
  return (
    verdicts.filter((one) => one.file.startsWith(`${folder}/`)).length >=
    (share * Number(values.judge ?? values.count)) / 100
  );
}

async function judgeOne(number: number, site: Site): Promise<Pick<Verdict, 'verdict' | 'tests' | 'by' | 'seconds'>> {
  // What caught it before comes first, then the cheap ones, and of those, what looks at little else.
  const before = basename(list?.[number]?.by ?? '');
  const dear = ({ test, ms, reached }: TestRun) => (basename(test) === before ? 0 : ms * reached.length);
  const tests = runs.filter(({ ok, reached }) => ok && reached.includes(number)).toSorted((a, b) => dear(a) - dear(b));
  if (tests.length === 0) return { verdict: 'not reached', tests: 0 };
  const path = join(tree, site.file);
  const source = readFileSync(path, 'utf8');
  const mutated = source.slice(0, site.start) + site.replacement + source.slice(site.end);
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 1000);
  try {
    for (const { test, ms } of tests) {
      if (seconds() > Number(values.seconds))
        return { verdict: 'out of time', tests: tests.length, seconds: seconds() };
      writeFileSync(path, mutated);
      if ((await runTest(test, 20_000 + 4 * ms)).ok) continue;
      // A busy machine also makes tests fail: the same one passes without the fault.
      writeFileSync(path, source);
      if (!(await runTest(test, FILE_MS)).ok) continue;
      return { verdict: 'caught', tests: tests.length, by: test, seconds: seconds() };
    }
    return { verdict: 'survived', tests: tests.length, seconds: seconds() };
  } finally {
    writeFileSync(path, source);
  }
}

async function runTest(
  test: string,
  withinMs: number,
  more: NodeJS.ProcessEnv = {},
): Promise<{ ok: boolean; ms: number }> {
  const began = performance.now();
  const child = spawn(process.execPath, ['--no-node-snapshot', '--liftoff-only', '--import', hook, test], {
    cwd: tree,
    // Coverage is exact only without cached code.
    env: {
      ...process.env,
      TAP_BAIL: '1',
      TAP_TIMEOUT: '0',
      ...(more['NODE_V8_COVERAGE'] === undefined ? { NODE_COMPILE_CACHE: join(work, 'compiled') } : {}),
      ...more,
    },
    stdio: 'ignore',
    detached: true,
  });
  running.add(child);
  const late = setTimeout(() => killGroup(child), withinMs);
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
  clearTimeout(late);
  killGroup(child);
  running.delete(child);
  return { ok: code === 0, ms: Math.round(performance.now() - began) };
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it runs any more.
  }
}

/** Takes back a fault that an interrupted run left. */
function restore(): void {
  execFileSync('git', ['checkout', '--quiet', '--', 'src', 'sandbox'], { cwd: tree });
}

/** Loads tap as one file, in half the time. */
async function writeHook(): Promise<string> {
  const library = String(pathToFileURL(await writeTestLibrary(work)));
  const file = join(work, 'hook.mjs');
  writeFileSync(
    file,
    `import { registerHooks } from 'node:module';
registerHooks({ resolve: (name, context, next) => name === 'tap' ? { url: '${library}', shortCircuit: true } : next(name, context) });`,
  );
  return String(pathToFileURL(file));
}

/** Mulberry32: the same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Never leaves half a file. */
function writeJson(file: string, value: unknown): void {
  writeFileSync(`${file}.part`, `${JSON.stringify(value, null, 1)}\n`);
  renameSync(`${file}.part`, file);
}
