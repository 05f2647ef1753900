import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { deadCodeStep } from '../check/dead-code-step.ts';
import { formatStep } from '../check/format-step.ts';
import { lintStep } from '../check/lint-step.ts';
import { runSteps } from '../check/run-steps.ts';
import type { Step } from '../check/step.ts';
import { typesStep } from '../check/types-step.ts';

const home = join(import.meta.dirname, '..', '..');

/** A small project with our settings. It is outside the repository, because the tools skip ignored folders. */
function project(t: Test, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'isolayer-check-'));
  t.teardown(() => rmSync(root, { recursive: true }));
  const settings = [
    'tsconfig.json',
    'sandbox/guest/tsconfig.json',
    'examples/tsconfig.json',
    'biome.json',
    '.oxlintrc.json',
  ];
  for (const file of [...settings, '.gitignore']) cpSync(join(home, file), join(root, file));
  writeFileSync(join(root, 'package.json'), '{\n  "type": "module"\n}\n');
  symlinkSync(join(home, 'node_modules'), join(root, 'node_modules'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

async function findings(step: Step, root: string): Promise<string> {
  return (await step.run(root)).failures.join('\n');
}

const good = 'export const one = 1;\n';

t.test('biome: formatting and the order of imports', async (t) => {
  const files = { 'src/a.ts': good, 'src/b.ts': good, '.dependency-cruiser.mjs': '' };
  t.strictSame((await formatStep.run(project(t, files))).failures, []);
  t.match(await findings(formatStep, project(t, { 'src/a.ts': 'export const a = "x"' })), /src\/a\.ts format/);
  const unsorted = "import { one } from './b.ts';\nimport { two } from './a.ts';\n\nexport const sum = one + two;\n";
  t.match(
    await findings(formatStep, project(t, { 'src/c.ts': unsorted })),
    /src\/c\.ts:1:1 assist\/source\/organizeImports/,
  );
  t.match(await findings(formatStep, project(t, {})), /no file for Biome/);
  t.match(
    await findings(formatStep, project(t, { 'src/a.ts': good, '.gitignore': 'src\n' })),
    /Biome never read:\nsrc\/a\.ts/,
  );
});

const lintOffences: Readonly<Record<string, string>> = {
  'no-floating-promises': 'async function go(): Promise<void> {}\nexport function a(): void {\n  go();\n}\n',
  'no-misused-promises': 'export const a = (list: number[]): number[] => list.filter(async (n) => n > 1);\n',
  'no-explicit-any': 'export const a = (x: any): unknown => x;\n',
  'no-non-null-assertion': 'export const a = (list: number[]): number => list[0]!;\n',
  'no-cycle': "import { b } from './b.ts';\nexport const a = (): number => b();\n",
  'switch-exhaustiveness-check':
    "export function a(kind: 'x' | 'y'): void {\n  switch (kind) {\n    case 'x':\n      break;\n  }\n}\n",
  'consistent-type-imports': "import { C } from './c.ts';\nexport type A = C;\n",
  'only-throw-error': "export function a(): never {\n  throw 'no';\n}\n",
  'no-console': "export const a = (): void => console.log('x');\n",
  'no-new-func': "export const a = new Function('return 1');\n",
  'ban-ts-comment': '// @ts-ignore\nexport const a: string = 1;\n',
  'no-default-export': 'export default 1;\n',
  'no-unused-vars': 'const a = 1;\nexport {};\n',
};

t.test('oxlint: each of these rules fires', async (t) => {
  const offences = Object.entries(lintOffences).map(([rule, text]) => [`src/${rule}.ts`, text] as const);
  const root = project(t, {
    ...Object.fromEntries(offences),
    'src/b.ts': "import { a } from './no-cycle.ts';\nexport const b = (): number => a();\n",
    'src/c.ts': 'export class C {}\n',
  });
  const found = await findings(lintStep, root);
  for (const rule of Object.keys(lintOffences)) {
    t.match(found, new RegExp(`\\(${rule}\\): .*\\n +,-\\[src/${rule}\\.ts:`), rule);
  }
  t.strictSame((await lintStep.run(project(t, { 'src/a.ts': good }))).failures, []);
  const unseen = project(t, { 'src/a.ts': good, '.gitignore': 'src\n' });
  t.match(await findings(lintStep, unseen), /oxlint never read:\nsrc\/a\.ts/);
});

t.test('the compiler: strictness, and every file of the project', async (t) => {
  const service = typesStep({ path: '.', folders: ['src'] });
  t.strictSame((await service.run(project(t, { 'src/a.ts': good }))).failures, []);
  const offences = {
    'src/a.ts': "export const a: number = 'x';\n",
    'src/b.ts': 'export enum A {\n  B,\n}\n',
    'src/c.ts': 'export const a = (list: number[]): number => list[0];\n',
  };
  const found = await findings(service, project(t, offences));
  for (const error of [/src\/a\.ts.*TS2322/, /src\/b\.ts.*TS1294/, /src\/c\.ts.*TS2322/]) t.match(found, error);
  t.match(await findings(service, project(t, {})), /no file for The compiler/);
  t.match(
    await findings(typesStep({ path: '.', folders: ['lib'] }), project(t, { 'src/a.ts': good, 'lib/b.ts': good })),
    /never read:\nlib/,
  );
});

t.test('the compiler: the guest sees no Node, no web and no service', async (t) => {
  const guest = typesStep({ path: 'sandbox/guest', folders: ['sandbox/guest'] });
  const offences = {
    'src/a.ts': good,
    'sandbox/guest/a.ts': "import { one } from '../../src/a.ts';\nexport const a = one;\n",
    'sandbox/guest/b.ts': 'export const b = process.env;\n',
    'sandbox/guest/c.ts': "export const c = fetch('x');\n",
    'sandbox/guest/d.ts': "import { readFileSync } from 'node:fs';\nexport const d = readFileSync;\n",
  };
  const found = await findings(guest, project(t, offences));
  for (const error of [
    /guest\/a\.ts.*TS6059/,
    /guest\/b\.ts.*process/,
    /guest\/c\.ts.*fetch/,
    /guest\/d\.ts.*node:fs/,
  ]) {
    t.match(found, error);
  }
  const types = "import type { A } from '../protocol.ts';\nexport const a: A = 1;\n";
  const files = { 'sandbox/protocol.ts': 'export type A = number;\n', 'sandbox/guest/a.ts': types };
  t.strictSame((await guest.run(project(t, files))).failures, []);
});

t.test('the compiler: a plugin sees our types under the name that authors import', async (t) => {
  const plugins = typesStep({
    path: 'examples',
    folders: ['plugins'],
    finds: ['sandbox/guest/modules/relayer-sdk.ts'],
  });
  const sdk = { 'sandbox/guest/modules/relayer-sdk.ts': "export type { Speed } from '../plugin-api.ts';\n" };
  const api = { 'sandbox/guest/plugin-api.ts': 'export type Speed = 1 | 2;\n' };
  const plugin = (speed: number) =>
    `import type { Speed } from '@openzeppelin/relayer-sdk';\nexport const speed: Speed = ${speed};\n`;
  t.strictSame((await plugins.run(project(t, { ...sdk, ...api, 'plugins/hello.ts': plugin(2) }))).failures, []);
  t.match(await findings(plugins, project(t, { ...sdk, ...api, 'plugins/hello.ts': plugin(3) })), /TS2322/);
  t.match(
    await findings(plugins, project(t, { 'plugins/hello.ts': good })),
    /never read:\nsandbox\/guest\/modules/,
    'the public package does not stand in for our own',
  );
});

t.test('an operator’s own plugins are not looked at, whatever they are like', async (t) => {
  const own =
    "import { gone } from 'nowhere';\nexport async function handler(context) {\ngone(context)\n  var a: any = 1 }\n";
  const others = { 'plugins/mine.ts': own, 'plugins/rich/index.ts': own, 'plugins/tsconfig.json': '{}' };
  const sdk = { 'sandbox/guest/modules/relayer-sdk.ts': 'export type Speed = 1;\n' };
  const types = typesStep({ path: 'examples', folders: ['plugins'] });
  const shipped = { ...sdk, 'plugins/hello.ts': good };
  for (const step of [formatStep, lintStep, types]) {
    t.strictSame((await step.run(project(t, { ...shipped, ...others }))).failures, [], step.name);
    const worse = { ...shipped, ...others, 'plugins/hello.ts': own };
    t.match(await findings(step, project(t, worse)), /plugins\/hello\.ts/, `${step.name} looks at what is shipped`);
  }
});

t.test('knip: what nothing uses', async (t) => {
  const files = {
    'package.json': JSON.stringify({ name: 'x', type: 'module', scripts: { start: 'node src/main.ts' } }),
    'knip.json': JSON.stringify({ workspaces: { '.': { entry: ['src/entry.ts'], project: ['src/**/*.ts'] } } }),
    'src/main.ts': "import { one } from './one.ts';\none();\n",
    'src/entry.ts': 'export const entry = 1;\n',
    'src/one.ts': 'export function one(): void {}\n',
  };
  t.strictSame((await deadCodeStep.run(project(t, files))).failures, []);
  t.match(
    await findings(deadCodeStep, project(t, { ...files, 'src/lost.ts': good })),
    /Unused files[\s\S]*src\/lost\.ts/,
  );
  const more = `${files['src/one.ts']}export const two = 2;\n`;
  t.match(await findings(deadCodeStep, project(t, { ...files, 'src/one.ts': more })), /Unused exports[\s\S]*two/);
  const dependency = JSON.stringify({ ...JSON.parse(files['package.json']), dependencies: { zod: '4.6.7' } });
  t.match(await findings(deadCodeStep, project(t, { ...files, 'package.json': dependency })), /Unused dependencies/);
  const gone = files['knip.json'].replace('entry.ts', 'gone.ts');
  t.match(
    await findings(deadCodeStep, project(t, { ...files, 'knip.json': gone })),
    /that do not exist:\nsrc\/gone\.ts/,
  );
});

t.test('all steps run, all failures are shown, and one failure fails the check', async (t) => {
  const step = (name: string, failures: string[]): Step => ({
    name,
    run: async () => ({ looked: '1 file', failures }),
  });
  const throws: Step = { name: 'throws', run: () => Promise.reject(new Error('no such tool')) };
  const printed: string[] = [];
  const print = (text: string) => printed.push(text);

  t.equal(
    await runSteps([step('a', ['first', 'second']), throws, step('b', []), step('c', ['third'])], home, print),
    false,
  );
  const text = printed.join('\n');
  t.match(
    text,
    /FAILED a .*\n {4}first\n {4}second\nFAILED throws .*\n {4}Error: no such tool[\s\S]*\nok {5}b .*\nFAILED c/,
  );
  t.match(text, /3 of 4 checks failed\.$/);
  t.equal(await runSteps([step('a', []), step('b', [])], home, print), true);
  await t.rejects(runSteps([], home, print), /no step/);
});
