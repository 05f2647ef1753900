import t from 'tap';
import { checks } from '../check/checks.ts';

/** By import rule: imports that break it. */
const broken: Readonly<Record<string, readonly (readonly [from: string, to: string])[]>> = {
  'arrow-up-from-plugin-host': [
    ['src/features/plugins/host/a.ts', 'src/http/server.ts'],
    ['src/features/plugins/host/b.ts', 'src/main.ts'],
  ],
  'arrow-up-from-services': [['src/features/relayers/a.ts', 'src/features/plugins/host/create-plugin-host.ts']],
  'arrow-up-from-engine': [['src/engine/a.ts', 'src/features/relayers/relayers.ts']],
  'arrow-up-from-chains': [['src/chains/a.ts', 'src/engine/lane/lane.ts']],
  'arrow-up-from-signers': [['src/signers/a.ts', 'src/chains/chain.ts']],
  'arrow-up-from-store': [
    ['src/store/a.ts', 'src/signers/signer.ts'],
    ['src/features/relayers/table.ts', 'src/features/relayers/relayers.ts'],
  ],
  'arrow-up-from-egress': [['src/egress/a.ts', 'src/store/tables/kv.ts']],
  'arrow-up-from-observability': [
    ['src/observability/a.ts', 'src/egress/client.ts'],
    ['src/observability/b.ts', 'src/settings/load.ts'],
  ],
  'arrow-up-from-reconcile': [['src/settings/reconcile/a.ts', 'src/app/compose.ts']],
  'arrow-up-from-http': [['src/http/h.ts', 'src/settings/reconcile/apply-declarations.ts']],
  'arrow-up-from-settings': [['src/settings/a.ts', 'src/observability/log.ts']],
  'arrow-up-from-domain': [
    ['src/domain/a.ts', 'src/settings/load.ts'],
    ['src/features/audit/record.ts', 'src/features/audit/table.ts'],
  ],
  'no-cycle': [['src/domain/one.ts', 'src/domain/two.ts']],
  resolvable: [['src/domain/b.ts', './nowhere.ts']],
  declared: [['src/settings/b.ts', 'undeclared']],
  'no-development-package': [['src/settings/c.ts', 'devtool']],
  'domain-is-pure': [
    ['src/domain/c.ts', 'node:fs'],
    ['src/domain/d.ts', 'pino'],
  ],
  'service-stays-in-production': [
    ['src/settings/d.ts', 'test/support/anvil.ts'],
    ['sandbox/driver/a.ts', 'test/load/bench/load.ts'],
    ['plugins/hello.ts', 'examples/demo/story.ts'],
  ],
  'compose-is-the-top': [['src/http/a.ts', 'src/app/compose.ts']],
  'compose-creates-drivers': [
    ['src/features/relayers/f.ts', 'src/store/sqlite/sqlite.ts'],
    ['src/engine/d.ts', 'src/egress/http-client.ts'],
  ],
  'main-is-an-entry': [['test/support/a.ts', 'src/main.ts']],
  'commands-are-the-top': [['src/http/b.ts', 'src/cli/migrate.ts']],
  'routes-call-services': [
    ['src/http/routes/a.ts', 'src/store/tables/kv.ts'],
    ['src/features/webhooks/operations.ts', 'src/features/webhooks/tables/outbox.ts'],
  ],
  'http-calls-services': [['src/http/c.ts', 'src/engine/lane/lane.ts']],
  'gateway-calls-services': [['src/features/plugins/host/c.ts', 'src/signers/signer.ts']],
  'store-sends-nothing': [['src/store/b.ts', 'src/egress/client.ts']],
  'migrations-stand-alone': [['src/store/migrations/a.ts', 'src/domain/id.ts']],
  'chains-are-apart': [['src/chains/evm/a.ts', 'src/chains/solana/fees.ts']],
  'chains-behind-their-interface': [['src/engine/b.ts', 'src/chains/evm/price/gas-price.ts']],
  'wall-from-service': [
    ['src/features/plugins/host/d.ts', 'sandbox/host/child/child-supervisor.ts'],
    ['src/features/plugins/host/e.ts', 'sandbox/protocol.ts'],
    ['src/features/plugins/host/f.ts', 'sandbox/host/call-queues.ts'],
  ],
  'wall-from-sandbox': [['sandbox/driver/b.ts', 'src/domain/id.ts']],
  'protocol-stands-alone': [
    ['sandbox/protocol.ts', 'zod'],
    ['sandbox/contract.ts', 'sandbox/host/child/child-supervisor.ts'],
  ],
  'guest-stands-alone': [
    ['sandbox/guest/a.ts', 'node:fs'],
    ['sandbox/guest/b.ts', 'zod'],
    ['sandbox/guest/c.ts', 'sandbox/host/child/child-supervisor.ts'],
  ],
  'guest-takes-types-from-the-protocol': [['sandbox/guest/d.ts', 'sandbox/protocol.ts']],
  'process-stands-alone': [
    ['sandbox/process/a.ts', 'zod'],
    ['sandbox/process/b.ts', 'sandbox/host/child/child-supervisor.ts'],
  ],
  'driver-stays-outside': [['sandbox/driver/c.ts', 'sandbox/process/call-bridge.ts']],
  'only-owner-imports-isolated-vm': [
    ['sandbox/process/c.ts', 'isolated-vm'],
    ['src/features/plugins/host/e.ts', 'isolated-vm'],
  ],
  'only-owner-imports-esbuild': [['src/http/d.ts', 'esbuild']],
};

/** The import that closes the cycle. The check reports a cycle once. */
const closesTheCycle = ['src/domain/two.ts', 'src/domain/one.ts'] as const;

/** Imports that are allowed. */
const kept: readonly (readonly [from: string, to: string])[] = [
  ['src/main.ts', 'src/app/compose.ts'],
  ['src/app/compose.ts', 'src/store/sqlite/sqlite.ts'],
  ['src/app/compose.ts', 'src/chains/evm/price/gas-price.ts'],
  ['src/http/routes/z.ts', 'src/features/relayers/relayers.ts'],
  ['src/engine/z.ts', 'src/chains/chain.ts'],
  ['src/chains/evm/z.ts', 'src/signers/signer.ts'],
  ['src/features/plugins/host/y.ts', 'sandbox/contract.ts'],
  ['src/features/plugins/host/x.ts', 'sandbox/host/sandbox.ts'],
  ['src/domain/z.ts', 'zod'],
  ['sandbox/process/isolate.ts', 'isolated-vm'],
  ['sandbox/process/z.ts', 'node:net'],
  ['test/e2e/z.test.ts', 'src/app/compose.ts'],
];

t.test('each import rule fires on what breaks it, and only there', async (t) => {
  const offences = Object.entries(broken).flatMap(([rule, imports]) =>
    imports.map(([from, to]) => ({ rule, from, to })),
  );
  const root = t.testdir(project([...offences.map(({ from, to }) => [from, to] as const), closesTheCycle, ...kept]));
  const failures = (await checks.imports.run(root)).offences.split('\n');

  for (const { rule, from, to } of offences) {
    t.ok(
      failures.some((failure) => failure.startsWith(`${rule}: ${from} → `)),
      `${rule}: ${from} → ${to}`,
    );
  }
  for (const [from, to] of kept) {
    t.notOk(
      failures.find((failure) => failure.includes(`: ${from} → `)),
      `${from} → ${to} is allowed`,
    );
  }
});

interface Folder {
  [name: string]: string | Folder;
}

/** A project with these imports, and with stubs for the packages. */
function project(imports: readonly (readonly [from: string, to: string])[]): Folder {
  const packages = ['zod', 'pino', 'isolated-vm', 'esbuild', 'undeclared', 'devtool'];
  const declared = ['zod', 'pino', 'isolated-vm', 'esbuild'];
  const root: Folder = {
    'package.json': JSON.stringify({
      type: 'module',
      dependencies: Object.fromEntries(declared.map((name) => [name, '1.0.0'])),
      devDependencies: { devtool: '1.0.0' },
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
