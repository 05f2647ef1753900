/** Each check fails on what it is for, and on a run that has read less than there is. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { type Check, checks, judge, runChecks } from '../check/checks.ts';
import { root as home } from '../check/project.ts';

type Files = Readonly<Record<string, string>>;

const SETTINGS = ['tsconfig.json', 'sandbox/guest/tsconfig.json', 'examples/tsconfig.json', 'biome.json'];

/** A small project with our settings. It is outside the repository, because the tools skip ignored folders. */
function project(t: Test, files: Files): string {
  const root = mkdtempSync(join(tmpdir(), 'isolayer-check-'));
  t.teardown(() => rmSync(root, { recursive: true }));
  for (const file of [...SETTINGS, '.oxlintrc.json', '.gitignore']) cpSync(join(home, file), join(root, file));
  writeFileSync(join(root, 'package.json'), '{\n  "type": "module"\n}\n');
  symlinkSync(join(home, 'node_modules'), join(root, 'node_modules'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const good = 'export const one = 1;\n';
const sdk = { 'sandbox/guest/modules/relayer-sdk.ts': 'export type Speed = 1;\n' };
const plugin = "import type { Speed } from '@openzeppelin/relayer-sdk';\nexport const speed: Speed = ";
const knip = {
  'package.json': JSON.stringify({ name: 'x', type: 'module', scripts: { start: 'node src/main.ts' } }),
  'knip.json': JSON.stringify({ workspaces: { '.': { entry: ['src/entry.ts'], project: ['src/**/*.ts'] } } }),
  'src/main.ts': "import { one } from './one.ts';\none();\n",
  'src/entry.ts': 'export const entry = 1;\n',
  'src/one.ts': 'export function one(): void {}\n',
};

/** By check: a project that passes, and by what is to be found: the files that make it fail. */
const cases: readonly { check: Check; passes: Files; fails: readonly (readonly [RegExp, Files])[] }[] = [
  {
    check: checks.format,
    passes: { 'src/a.ts': good, '.dependency-cruiser.mjs': '' },
    fails: [
      [/src\/a\.ts format/, { 'src/a.ts': 'export const a = "x"' }],
      [/biome never read:\nsrc\/a\.ts/, { '.gitignore': 'src\n' }],
    ],
  },
  {
    check: checks.lint,
    passes: { 'src/a.ts': good },
    fails: [
      [
        /no-floating-promises/,
        { 'src/a.ts': 'async function go(): Promise<void> {}\nexport const a = () => void go;\ngo();\n' },
      ],
      [/no-explicit-any/, { 'src/a.ts': 'export const a = (x: any): unknown => x;\n' }],
      [/oxlint never read:\nsrc\/a\.ts/, { '.gitignore': 'src\n' }],
    ],
  },
  {
    check: checks.types,
    passes: { 'src/a.ts': good },
    fails: [
      [/src\/a\.ts.*TS2322/, { 'src/a.ts': 'export const a = (list: number[]): number => list[0];\n' }],
      [/never read:\nsrc\/a\.ts/, { 'tsconfig.json': '{"files":["b.ts"]}', 'b.ts': good }],
    ],
  },
  {
    check: checks.guestTypes,
    passes: { 'sandbox/guest/a.ts': good },
    fails: [
      [/guest\/a\.ts.*TS6059/, { 'src/a.ts': good, 'sandbox/guest/a.ts': "export { one } from '../../src/a.ts';\n" }],
      [/guest\/a\.ts.*process/, { 'sandbox/guest/a.ts': 'export const a = process.env;\n' }],
    ],
  },
  {
    check: checks.pluginTypes,
    // An operator's own plugins are not looked at, whatever they are like.
    passes: { ...sdk, 'plugins/hello.ts': `${plugin}1;\n`, 'plugins/mine.ts': "import { gone } from 'nowhere';\n" },
    fails: [
      [/TS2322/, { 'plugins/hello.ts': `${plugin}2;\n` }],
      [/never read:\nsandbox\/guest\/modules/, { 'plugins/hello.ts': good }],
    ],
  },
  {
    check: checks.deadCode,
    passes: knip,
    fails: [
      [/Unused files[\s\S]*src\/lost\.ts/, { 'src/lost.ts': good }],
      [/Unused exports[\s\S]*two/, { 'src/one.ts': `${knip['src/one.ts']}export const two = 2;\n` }],
      [
        /src\/gone\.ts is an entry that does not exist/,
        { 'knip.json': knip['knip.json'].replace('entry.ts', 'gone.ts') },
      ],
      [/knip never read:\ntest\/a\.ts/, { 'test/a.ts': good }],
    ],
  },
];

for (const { check, passes, fails } of cases) {
  t.test(check.name, async (t) => {
    t.strictSame((await judge(check, project(t, passes))).failures, []);
    for (const [found, files] of fails) {
      t.match((await judge(check, project(t, { ...passes, ...files }))).failures.join('\n'), found);
    }
    const nothing = (await judge(check, project(t, { 'knip.json': knip['knip.json'] }))).failures.join('\n');
    t.match(nothing, /There is no file for/);
  });
}

t.test('all checks run, all failures are shown, and one failure fails the whole', async (t) => {
  const check = (name: string, offences: string): Check => ({
    name,
    run: async () => ({ offences, read: ['a.ts'], expected: ['a.ts'] }),
  });
  const throws: Check = { name: 'throws', run: () => Promise.reject(new Error('no such tool')) };
  const printed: string[] = [];
  const print = (text: string) => printed.push(text);

  t.equal(await runChecks([check('a', 'first\nsecond'), throws, check('b', '')], home, print), false);
  const text = printed.join('\n');
  t.match(text, /FAILED a .*\n {4}first\n {4}second\nFAILED throws .*\n {4}Error: no such tool[\s\S]*\nok {5}b /);
  t.match(text, /2 of 3 checks failed\.$/);
  t.equal(await runChecks([check('a', '')], home, print), true);
  await t.rejects(runChecks([], home, print), /no check/);
});
