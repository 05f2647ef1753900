import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { importsStep, judgeCruise } from '../check/imports-step.ts';

/** By import rule: imports that break it. */
const broken: Readonly<Record<string, readonly (readonly [from: string, to: string])[]>> = {
  'arrow-up-from-plugin-host': [
    ['src/plugin-host/a.ts', 'src/http/server.ts'],
    ['src/plugin-host/b.ts', 'src/main.ts'],
  ],
  'arrow-up-from-services': [['src/services/a.ts', 'src/plugin-host/host.ts']],
  'arrow-up-from-engine': [['src/engine/a.ts', 'src/services/relayers.ts']],
  'arrow-up-from-chains': [['src/chains/a.ts', 'src/engine/lane/lane.ts']],
  'arrow-up-from-signers': [['src/signers/a.ts', 'src/chains/chain.ts']],
  'arrow-up-from-store': [['src/store/a.ts', 'src/signers/signer.ts']],
  'arrow-up-from-egress': [['src/egress/a.ts', 'src/store/tables/kv.ts']],
  'arrow-up-from-observability': [
    ['src/observability/a.ts', 'src/egress/client.ts'],
    ['src/observability/b.ts', 'src/config/load.ts'],
  ],
  'arrow-up-from-settings/reconcile': [['src/settings/reconcile/a.ts', 'src/app/compose.ts']],
  'arrow-up-from-http': [['src/http/h.ts', 'src/settings/reconcile/declarations.ts']],
  'arrow-up-from-config': [['src/config/a.ts', 'src/observability/log.ts']],
  'arrow-up-from-domain': [['src/domain/a.ts', 'src/config/load.ts']],
  'no-cycle': [['src/domain/one.ts', 'src/domain/two.ts']],
  resolvable: [['src/domain/b.ts', './nowhere.ts']],
  declared: [['src/config/b.ts', 'undeclared']],
  'no-development-package': [['src/config/c.ts', 'devtool']],
  'domain-is-pure': [
    ['src/domain/c.ts', 'node:fs'],
    ['src/domain/d.ts', 'pino'],
  ],
  'service-stays-in-production': [
    ['src/config/d.ts', 'test/support/anvil.ts'],
    ['sandbox/driver/a.ts', 'test/load/bench/load.ts'],
    ['plugins/hello.ts', 'examples/demo/story.ts'],
  ],
  'compose-is-the-top': [['src/http/a.ts', 'src/app/compose.ts']],
  'compose-creates-drivers': [
    ['src/services/f.ts', 'src/store/sqlite/sqlite.ts'],
    ['src/engine/d.ts', 'src/egress/http-client.ts'],
  ],
  'main-is-an-entry': [['test/support/a.ts', 'src/main.ts']],
  'commands-are-the-top': [['src/http/b.ts', 'src/cli/migrate.ts']],
  'routes-call-services': [['src/http/routes/a.ts', 'src/store/tables/kv.ts']],
  'http-calls-services': [['src/http/c.ts', 'src/engine/lane/lane.ts']],
  'gateway-calls-services': [['src/plugin-host/c.ts', 'src/signers/signer.ts']],
  'store-sends-nothing': [['src/store/b.ts', 'src/egress/client.ts']],
  'migrations-stand-alone': [
    ['src/store/migrations/a.ts', 'src/domain/id.ts'],
    ['src/store/migrations/b.ts', 'src/store/schema.ts'],
  ],
  'chains-are-apart': [['src/chains/evm/a.ts', 'src/chains/solana/fees.ts']],
  'chains-behind-their-interface': [['src/engine/b.ts', 'src/chains/evm/fees.ts']],
  'wall-from-service': [['src/plugin-host/d.ts', 'sandbox/driver/supervisor.ts']],
  'wall-from-sandbox': [['sandbox/driver/b.ts', 'src/domain/id.ts']],
  'protocol-stands-alone': [
    ['sandbox/protocol.ts', 'zod'],
    ['sandbox/capability-contract.ts', 'sandbox/driver/supervisor.ts'],
  ],
  'both-sides-stand-alone': [
    ['sandbox/call-table.ts', 'sandbox/protocol.ts'],
    ['sandbox/frames.ts', 'sandbox/protocol.ts'],
  ],
  'language-names-stand-alone': [['sandbox/language-names.ts', 'sandbox/protocol.ts']],
  'guest-stands-alone': [
    ['sandbox/guest/a.ts', 'node:fs'],
    ['sandbox/guest/b.ts', 'zod'],
    ['sandbox/guest/c.ts', 'sandbox/driver/supervisor.ts'],
  ],
  'guest-takes-types-from-the-protocol': [['sandbox/guest/d.ts', 'sandbox/protocol.ts']],
  'process-stands-alone': [
    ['sandbox/process/a.ts', 'zod'],
    ['sandbox/process/b.ts', 'sandbox/driver/supervisor.ts'],
  ],
  'driver-stays-outside': [['sandbox/driver/c.ts', 'sandbox/process/bridge.ts']],
  'only-owner-imports-buffer': [['sandbox/guest/e.ts', 'buffer/index.js']],
  'only-owner-imports-web-streams-polyfill': [['sandbox/guest/f.ts', 'web-streams-polyfill']],
  'only-owner-imports-pako': [['sandbox/guest/h.ts', 'pako']],
  'only-owner-imports-node-packages': [['sandbox/guest/node/g.ts', 'unenv']],
  'only-owner-imports-isolated-vm': [
    ['sandbox/process/c.ts', 'isolated-vm'],
    ['src/plugin-host/e.ts', 'isolated-vm'],
  ],
  'only-owner-imports-piscina': [['src/plugin-host/f.ts', 'piscina']],
  'only-owner-imports-prom-client': [['src/services/kv.ts', 'prom-client']],
  'only-owner-imports-openzeppelin': [['examples/demo/b.ts', '@openzeppelin/relayer-sdk']],
  'plugins-import-no-openzeppelin-but-the-sdk': [['plugins/hello.ts', '@openzeppelin/relayer-plugin-channels']],
  'only-owner-imports-pg': [['src/services/b.ts', 'pg']],
  'only-owner-imports-sqlite': [['src/engine/c.ts', 'node:sqlite']],
  'only-owner-imports-kysely': [['src/services/c.ts', 'kysely']],
  'only-owner-imports-aws-sdk': [['src/signers/b.ts', '@aws-sdk/client-kms']],
  'vendors-load-late': [['src/signers/aws-kms.ts', '@aws-sdk/client-kms']],
  'only-owner-imports-undici': [['src/chains/evm/b.ts', 'undici']],
  'only-owner-imports-ethers': [
    ['src/chains/solana/a.ts', 'ethers'],
    ['src/services/d.ts', 'ethers'],
  ],
  'only-owner-imports-solana-web3': [['src/chains/evm/e.ts', '@solana/web3.js']],
  'only-owner-imports-fastify': [['src/services/e.ts', 'fastify']],
  'only-owner-imports-fast-check': [['test/unit/src/engine/q.test.ts', 'fast-check']],
  'only-owner-imports-esbuild': [['src/http/d.ts', 'esbuild']],
  'only-owner-imports-preact': [['src/http/e.ts', 'preact']],
};

/** The import that closes the cycle. The check reports a cycle once. */
const closesTheCycle = ['src/domain/two.ts', 'src/domain/one.ts'] as const;

/** Imports that are allowed. */
const kept: readonly (readonly [from: string, to: string])[] = [
  ['src/main.ts', 'src/app/compose.ts'],
  ['src/app/compose.ts', 'src/store/tables/kv.ts'],
  ['src/app/compose.ts', 'src/chains/evm/fees.ts'],
  ['src/app/compose.ts', 'src/store/sqlite/sqlite.ts'],
  ['src/cli/backup.ts', 'src/store/sqlite/sqlite.ts'],
  ['src/store/open.ts', 'src/store/sqlite/sqlite.ts'],
  ['src/http/routes/z.ts', 'src/services/relayers.ts'],
  ['src/http/routes/y.ts', 'src/plugin-host/host.ts'],
  ['src/services/z.ts', 'src/store/tables/kv.ts'],
  ['src/services/y.ts', 'src/engine/lane/lane.ts'],
  ['src/engine/z.ts', 'src/chains/chain.ts'],
  ['src/engine/y.ts', 'src/store/tables/kv.ts'],
  ['src/chains/evm/z.ts', 'src/signers/signer.ts'],
  ['src/chains/evm/y.ts', 'src/egress/client.ts'],
  ['src/chains/evm/x.ts', 'ethers'],
  ['src/plugin-host/z.ts', 'src/services/relayers.ts'],
  ['src/plugin-host/y.ts', 'sandbox/protocol.ts'],
  ['src/plugin-host/x.ts', 'sandbox/capability-contract.ts'],
  ['src/plugin-host/w.ts', 'sandbox/call-table.ts'],
  ['src/plugin-host/v.ts', 'sandbox/frames.ts'],
  ['sandbox/process/z.ts', 'sandbox/language-names.ts'],
  ['sandbox/guest/z.ts', 'sandbox/language-names.ts'],
  ['src/plugin-host/processes/pool.ts', 'piscina'],
  ['src/observability/metrics.ts', 'prom-client'],
  ['src/store/z.ts', 'node:sqlite'],
  ['src/store/y.ts', 'pg'],
  ['src/store/migrations/z.ts', 'kysely'],
  ['src/egress/z.ts', 'undici'],
  ['src/domain/z.ts', 'zod'],
  ['sandbox/guest/globals/buffer.ts', 'buffer/index.js'],
  ['sandbox/guest/globals/streams.ts', 'web-streams-polyfill'],
  ['sandbox/guest/globals/compression.ts', 'pako'],
  ['sandbox/guest/parts/z.ts', 'readable-stream'],
  ['sandbox/process/isolate.ts', 'isolated-vm'],
  ['sandbox/process/z.ts', 'node:net'],
  ['test/e2e/z.test.ts', 'src/app/compose.ts'],
  ['test/e2e/y.test.ts', '@openzeppelin/relayer-sdk'],
  ['plugins/hello.ts', '@openzeppelin/relayer-sdk'],
];

t.test('each import rule fires on what breaks it, and only there', async (t) => {
  const offences = Object.entries(broken).flatMap(([rule, imports]) =>
    imports.map(([from, to]) => ({ rule, from, to })),
  );
  const root = t.testdir(project([...offences.map(({ from, to }) => [from, to] as const), closesTheCycle, ...kept]));
  const { failures } = await importsStep.run(root);

  for (const { rule, from, to } of offences) {
    t.ok(
      failures.some((failure) => failure.startsWith(`${rule}: ${from} → `)),
      `${rule}: ${from} → ${to}`,
    );
  }
  const offenders = new Set(offences.map(({ from }) => from));
  for (const [from, to] of kept) {
    // The check looks at one plugin only, and that file also has forbidden imports. So match on the imported file too.
    const offence = offenders.has(from) ? to : '';
    t.notOk(
      failures.find((failure) => failure.includes(`: ${from} → `) && failure.includes(offence)),
      `${from} → ${to} is allowed`,
    );
  }
});

t.test('every rule of the configuration is tried', async (t) => {
  const url = pathToFileURL(join(import.meta.dirname, '..', '..', '.dependency-cruiser.mjs'));
  const { default: config } = (await import(url.href)) as { default: { forbidden: { name: string }[] } };
  t.strictSame(Object.keys(broken).sort(), config.forbidden.map(({ name }) => name).sort());
});

t.test('a cruise that reads less than there is fails, whatever it says itself', async (t) => {
  const nothing = { modules: [], summary: { violations: [] } };
  t.match(judgeCruise(nothing, ['src/main.ts']).failures, [/never read:\nsrc\/main\.ts/]);
  t.match(judgeCruise(nothing, []).failures, [/There is no file/]);
});

interface Folder {
  [name: string]: string | Folder;
}

/** A project with these imports, and with stubs for the packages. */
function project(imports: readonly (readonly [from: string, to: string])[]): Folder {
  const dependencies = [
    'zod',
    'pino',
    'isolated-vm',
    'piscina',
    'prom-client',
    'pg',
    'kysely',
    'undici',
    'preact',
    'ethers',
    'buffer',
    'web-streams-polyfill',
    'pako',
    'readable-stream',
    'unenv',
  ];
  const packages = [
    ...dependencies,
    'fastify',
    'esbuild',
    '@aws-sdk/client-kms',
    '@openzeppelin/relayer-sdk',
    '@openzeppelin/relayer-plugin-channels',
    'undeclared',
    'devtool',
  ];
  const declared = Object.fromEntries(
    [...dependencies, 'fastify', 'esbuild', '@aws-sdk/client-kms'].map((name) => [name, '1.0.0']),
  );
  const root: Folder = {
    'package.json': JSON.stringify({
      type: 'module',
      dependencies: declared,
      devDependencies: {
        devtool: '1.0.0',
        '@openzeppelin/relayer-sdk': '1.0.0',
        '@openzeppelin/relayer-plugin-channels': '1.0.0',
      },
    }),
    'tsconfig.json': JSON.stringify({ compilerOptions: { module: 'nodenext', allowImportingTsExtensions: true } }),
  };
  for (const name of packages) {
    place(root, `node_modules/${name}/package.json`, JSON.stringify({ name, type: 'module', main: 'index.js' }));
    place(root, `node_modules/${name}/index.js`, 'export default 1;\n');
  }
  for (const [, to] of imports) if (to.includes('/') && to.endsWith('.ts') && !to.startsWith('.')) place(root, to, '');
  for (const [from, those] of Map.groupBy(imports, ([from]) => from)) {
    const lines = those.map(([, to], at) => {
      const isFile = to.endsWith('.ts') && !to.startsWith('.');
      const target = isFile ? `${'../'.repeat(from.split('/').length - 1)}${to}` : to;
      return `import * as used${at} from '${target}';\nexport const value${at} = used${at};\n`;
    });
    place(root, from, lines.join(''));
  }
  return root;
}

function place(root: Folder, path: string, text: string): void {
  const parts = path.split('/');
  const file = parts.pop() ?? '';
  let folder = root;
  for (const part of parts) {
    folder[part] ??= {};
    folder = folder[part] as Folder;
  }
  folder[file] = text;
}
