import t from 'tap';
import { noBarrels } from './barrels.ts';
import { chainFolders, REQUIRED } from './chain-folders.ts';
import { honestTests, strayTests } from './honest-tests.ts';
import { houseRules } from './house.ts';
import { exactVersions, lockfileKnowsAllPlatforms, lockfileNamesNoRegistry } from './lockfile.ts';
import { bannedNames } from './names.ts';
import { noMachinePaths } from './portable.ts';
import type { Rule, SourceFile } from './rule.ts';

const at = (path: string, text = ''): SourceFile => ({ path, text });

/** For each rule: sets of files that break it once each, and files that keep it. This shows that each rule can fail. */
const cases: readonly { rule: Rule; broken: readonly (readonly SourceFile[])[]; kept: readonly SourceFile[] }[] = [
  {
    rule: bannedNames,
    broken: [
      [at('src/utils/hex.ts')],
      [at('src/http/helpers.ts')],
      [at('test/support/rpc-helper.ts')],
      [at('src/plugin-host/process-manager.ts')],
      [at('test/unit/src/common/id.test.ts')],
    ],
    kept: [at('src/http/envelope.ts'), at('src/store/commonality.ts'), at('docs/helpers.md')],
  },
  {
    rule: noBarrels,
    broken: [
      [at('src/signers/index.ts', "// All signers.\nexport * from './ecdsa.ts';\nexport { b } from './b.ts';\n")],
      [at('src/signers/all.ts', "import { b } from './b.ts';\nexport { b };\n")],
      [at('src/signers/types.ts', "export type { B } from './b.ts';\n")],
    ],
    kept: [
      at('src/chains/evm/index.ts', "import { fees } from './fees.ts';\nexport const evm = { fees };\n"),
      at('sandbox/guest/modules/relayer-sdk.ts', "export { Speed } from '../speed.ts';\n"),
      at('src/empty.ts', "import './b.ts';\n"),
    ],
  },
  {
    rule: chainFolders,
    broken: [
      chainFolder('solana').slice(1),
      [...chainFolder('evm'), ...chainFolder('solana').filter(({ path }) => !path.endsWith('networks.json'))],
      [...chainFolder('stellar'), at('src/chains/stellar/horizon.ts')],
      [...chainFolder('stellar'), at('src/chains/stellar/soroban/rpc.ts')],
    ],
    kept: [
      at('src/chains/chain.ts'),
      ...chainFolder('evm'),
      at('src/chains/evm/fees.ts'),
      at('src/chains/evm/price/market.ts'),
      ...chainFolder('solana'),
      at('src/chains/solana/swap.ts'),
    ],
  },
  {
    rule: honestTests,
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
  {
    rule: strayTests,
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
  {
    rule: noMachinePaths,
    broken: [
      [at('docs/start.md', `cd ${['', 'work', 'main'].join('/')}`)],
      [at('src/a.ts', `const log = '${['', 'tmp', 'bash_jobs', '1'].join('/')}';`)],
      [at('package.json', ['', 'home', 'me'].join('/'))],
    ],
    kept: [at('README.md', 'It works in any folder, /tmp/x as well; npm run homework/now.')],
  },
  {
    rule: lockfileNamesNoRegistry,
    broken: [[lockfile({ 'node_modules/a': { resolved: 'https://registry.example/a.tgz' } })]],
    kept: [lockfile({ 'node_modules/a': {}, 'node_modules/b': { resolved: 'test/b', link: true } })],
  },
  {
    rule: lockfileKnowsAllPlatforms,
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
  {
    rule: exactVersions,
    broken: [
      [at('package.json', '{"dependencies":{"a":"^1.0.0"}}')],
      [at('test/counterparts/package.json', '{"optionalDependencies":{"a":"latest"}}')],
    ],
    kept: [at('package.json', '{"dependencies":{"a":"1.0.0"},"devDependencies":{"b":"18.4.0-beta.17"}}')],
  },
];

for (const { rule, broken, kept } of cases) {
  const [name = 'a rule that the house does not have'] =
    Object.entries(houseRules).find(([, other]) => other === rule) ?? [];
  t.test(name, async (t) => {
    for (const files of broken) t.equal(rule(files).length, 1, `fires once: ${files[0]?.path}`);
    t.strictSame(rule(kept), [], 'lets good files pass');
  });
}

t.strictSame(new Set(cases.map(({ rule }) => rule)), new Set(Object.values(houseRules)), 'every rule is tried');

/** The files that every chain has. */
function chainFolder(chain: string): SourceFile[] {
  return REQUIRED.map((name) => at(`src/chains/${chain}/${name}`));
}

function lockfile(packages: Record<string, unknown>): SourceFile {
  return at('package-lock.json', JSON.stringify({ packages }));
}
