import t from 'tap';
import { houseRules, type SourceFile } from './rules.ts';

const at = (path: string, text = ''): SourceFile => ({ path, text });

/** For each rule: sets of files that break it once each, and files that keep it. This shows that each rule can fail. */
const cases: Readonly<Record<string, { broken: readonly (readonly SourceFile[])[]; kept: readonly SourceFile[] }>> = {
  honestTests: {
    broken: [
      [at('test/unit/a.test.ts', "import t from 'tap';\nt.test('x', async () => { new Set().has(1); });\n")],
      [at('test/unit/a.test.ts', "import t from 'tap';\n// t.ok(true)\nt.test('t.ok(true)', async () => {});\n")],
      [at('test/unit/a.test.ts', "import t from 'tap';\nt.ok(true);\nt.skip('later');\n")],
      [at('test/unit/a.test.ts', "import tap from 'tap';\ntap.ok(true);\ntap.test('x', { todo: 'later' });\n")],
      [
        at(
          'test/e2e/a.test.ts',
          "import t from 'tap';\nt.test('x', async (t) => {\n  t.ok(1);\n  t.only('y', f);\n});\n",
        ),
      ],
      [at('test/e2e/a.test.ts', "import t from 'tap';\nt.ok(1);\nt.test('x', { skip: !linux }, f);\n")],
    ],
    kept: [
      at('test/unit/a.test.ts', "import t from 'tap';\nt.test('skip: only todo', async (t) => t.equal(1, 1));\n"),
      at(
        'test/unit/b.test.ts',
        "import t from 'tap';\nimport { contract } from '../c.ts';\ncontract(t, { only: 1 });\n",
      ),
      at('test/support/anvil.ts', 'export const skip = list.skip(3);\n'),
    ],
  },
  strayTests: {
    broken: [
      [at('src/domain/id.test.ts')],
      [at('test/id.test.ts')],
      [at('test/unit/id.spec.ts')],
      [at('examples/demo/a.test.js')],
    ],
    kept: [
      at('test/unit/src/domain/id.test.ts'),
      at('test/e2e/demo.test.ts'),
      at('test/slow/threats/demo.test.ts'),
      at('test/support/testing.ts'),
    ],
  },
  noMachinePaths: {
    broken: [
      [at('docs/start.md', `cd ${['', 'work', 'main'].join('/')}`)],
      [at('src/a.ts', `const log = '${['', 'tmp', 'bash_jobs', '1'].join('/')}';`)],
      [at('package.json', ['', 'home', 'me'].join('/'))],
    ],
    kept: [at('README.md', 'It works in any folder, /tmp/x as well; npm run homework/now.')],
  },
  lockfileNamesNoRegistry: {
    broken: [[lockfile({ 'node_modules/a': { resolved: 'https://registry.example/a.tgz' } })]],
    kept: [lockfile({ 'node_modules/a': {}, 'node_modules/b': { resolved: 'test/b', link: true } })],
  },
  lockfileKnowsAllPlatforms: {
    broken: [
      [lockfile({ '': { optionalDependencies: { 'a-mac': '1.0.0' } } })],
      [lockfile({ 'node_modules/a': { optionalDependencies: { '@a/mac': '1.0.0' } }, 'node_modules/@a/linux': {} })],
      [
        lockfile({
          'node_modules/a': { optionalDependencies: { mac: '1.0.0' } },
          'node_modules/b/node_modules/mac': {},
        }),
      ],
    ],
    kept: [
      lockfile({
        '': { optionalDependencies: { mac: '1.0.0' } },
        'node_modules/mac': {},
        'node_modules/a/node_modules/b': { optionalDependencies: { mac: '1.0.0', own: '1.0.0', near: '1.0.0' } },
        'node_modules/a/node_modules/b/node_modules/own': {},
        'node_modules/a/node_modules/near': {},
        'test/servers': { optionalDependencies: { mac: '1.0.0' } },
      }),
    ],
  },
  exactVersions: {
    broken: [
      [at('package.json', '{"dependencies":{"a":"^1.0.0"}}')],
      [at('test/counterparts/package.json', '{"optionalDependencies":{"a":"latest"}}')],
    ],
    kept: [at('package.json', '{"dependencies":{"a":"1.0.0"},"devDependencies":{"b":"18.4.0-beta.17"}}')],
  },
};

for (const [name, rule] of Object.entries(houseRules)) {
  t.test(name, async (t) => {
    const { broken, kept } = cases[name] ?? { broken: [], kept: [] };
    t.ok(broken.length > 0, 'the rule is tried');
    for (const files of broken) t.equal(rule(files).length, 1, `fires once: ${files[0]?.path}`);
    t.strictSame(rule(kept), [], 'lets good files pass');
  });
}

function lockfile(packages: Record<string, unknown>): SourceFile {
  return at('package-lock.json', JSON.stringify({ packages }));
}
