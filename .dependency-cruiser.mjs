/**
 * The arrows of the house: who may import whom. Layers are listed from top to bottom; an arrow only points downwards.
 */
/** The configuration's files. What brings the store to them lies above. */
const FILES = 'settings/(?!reconcile/)';

const OPERATIONS = 'features/[^/]+/[a-z-]*operations\\.ts$';
const TABLES = 'features/[^/]+/(table\\.ts$|tables/)';
const RECORDS = 'features/[^/]+/(record\\.ts$|records/)';
const PLUGIN_HOST = 'features/plugins/host/';
const SERVICES = `features/(?!${[OPERATIONS, TABLES, RECORDS, PLUGIN_HOST].map((part) => part.slice('features/'.length)).join('|')})`;

/** By layer, from top to bottom: its paths below src/. A noun's folder has files of five layers, told by their names. */
const layers = [
  { app: 'app/' },
  { reconcile: 'settings/reconcile/' },
  { http: `(http/|${OPERATIONS})` },
  { 'plugin-host': PLUGIN_HOST },
  { services: SERVICES },
  { engine: 'engine/' },
  { chains: 'chains/' },
  { signers: 'signers/' },
  { store: `(store/|${TABLES})` },
  { egress: 'egress/' },
  { observability: 'observability/', settings: FILES },
  { domain: `(domain/|${RECORDS})` },
];

const DOMAIN = ['^src/domain/', `^src/${RECORDS}`];

/** Files of src/ that only test code and the demo may drive besides main.ts and the commands. */
const outside = '^((sandbox/)?test|examples/demo)/';

const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

const arrows = layers
  .slice(1)
  .flatMap((row, index) =>
    Object.entries(row).map(([layer, path]) =>
      forbid(
        `arrow-up-from-${layer}`,
        `${layer} lies below what it imports: an arrow only points downwards`,
        { path: `^src/${path}` },
        { path: `^src/(${['main\\.ts$', 'cli/', ...above(index + 1, layer)].join('|')})` },
      ),
    ),
  );

/** The paths that a layer must not import: every row above its own, and its neighbours in the row. */
function above(rowIndex, layer) {
  const beside = Object.entries(layers[rowIndex]).filter(([other]) => other !== layer);
  return [...layers.slice(0, rowIndex).flatMap((row) => Object.entries(row)), ...beside].map(([, path]) => path);
}

/** One package (or built-in module) and the only places that may import it. */
const owner = (name, target, places) =>
  forbid(
    `only-owner-imports-${name}`,
    `${name} belongs to ${places}`,
    { path: '.', pathNot: places },
    { path: target },
  );

const npm = (name) => `(^|/)node_modules/${name}/`;

/** The files that open a database, a connection or threads. */
const DRIVERS =
  '^src/(store/(sqlite/(sqlite|checkpoints|durable-commits)|postgres/postgres)|egress/(http-client|fetch/plugin-http))\\.ts$';

/** What a host and plugins know of the sandbox, beside its face. */
const CONTRACT = '^sandbox/contract\\.ts$';
/** What is said across the wall. */
const PROTOCOL = '^sandbox/(protocol|contract)\\.ts$';
/** Calls are kept by their numbers, and frames are read, on both sides of the wall. */
const BOTH_SIDES = '^sandbox/(call-table|frames)\\.ts$';
/** The guest hands these names out, its process looks for them in a plugin's code, and the compiler writes some. */
const LANGUAGE_NAMES = '^sandbox/language-names\\.ts$';

/** What Node's larger modules, and some of the web's classes, are made of in the guest. */
const NODE_PACKAGES = npm(
  '(readable-stream|node-inspect-extracted|unenv|@pkgjs/parseargs|urlpattern-polyfill|@exodus/bytes)',
);

/** Here the name resolves to the public package; for a plugin the compiler and the host resolve it to our own module. */
const PLUGIN_SDK = npm('@openzeppelin/relayer-sdk');

export default {
  forbidden: [
    ...arrows,

    forbid('no-cycle', 'two files that need each other are one concept or three', {}, { circular: true }),
    forbid('resolvable', 'the import leads nowhere', {}, { couldNotResolve: true }),
    forbid(
      'declared',
      'the package is not declared in package.json',
      { path: '^(src|sandbox|plugins|examples/demo|test)/' },
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    ),
    forbid(
      'no-development-package',
      'an image carries no development packages',
      { path: '^(src|sandbox|plugins)/', pathNot: '^sandbox/test/' },
      { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: PLUGIN_SDK },
    ),

    forbid(
      'domain-is-pure',
      'the domain knows itself, zod and the constants of the contract, neither Node nor a library',
      { path: [...DOMAIN] },
      { pathNot: [...DOMAIN, CONTRACT, npm('zod')] },
    ),
    forbid(
      'service-stays-in-production',
      'what is shipped does not know its tests, benchmarks or demonstration',
      { path: '^(src|sandbox|plugins)/', pathNot: '^sandbox/test/' },
      { path: outside },
    ),
    forbid(
      'compose-is-the-top',
      'the object graph is built once, by who starts the service',
      { path: '.', pathNot: ['^src/main\\.ts$', '^src/(cli|app)/', outside] },
      { path: '^src/app/compose\\.ts$' },
    ),
    forbid(
      'compose-creates-drivers',
      'what reaches the outside is created in app/compose.ts and handed on; others know its type',
      { path: '^src/([^/]+)/', pathNot: '^src/(app|cli)/' },
      { path: DRIVERS, pathNot: '^src/$1/', dependencyTypesNot: ['type-only'] },
    ),
    forbid('main-is-an-entry', 'main.ts is run, never imported', {}, { path: '^src/main\\.ts$' }),
    forbid(
      'commands-are-the-top',
      'only the entry knows the commands',
      { path: '^(src|sandbox)/', pathNot: ['^src/main\\.ts$', '^src/cli/'] },
      { path: '^src/cli/' },
    ),

    forbid(
      'routes-call-services',
      'a route reads the request, calls a service and shapes the answer',
      { path: ['^src/http/routes/', `^src/${OPERATIONS}`] },
      { path: ['^src/(engine|signers|store|egress)/', `^src/${TABLES}`] },
    ),
    forbid(
      'http-calls-services',
      'http neither drives, signs nor sends',
      { path: '^src/http/' },
      { path: '^src/(engine|signers|egress)/' },
    ),
    forbid(
      'gateway-calls-services',
      'a plugin reaches relayers by the same services as the API',
      { path: `^src/${PLUGIN_HOST}` },
      { path: '^src/(engine|chains|signers)/' },
    ),
    forbid(
      'store-sends-nothing',
      'the store talks to its database only',
      { path: ['^src/store/', `^src/${TABLES}`] },
      { path: '^src/egress/' },
    ),
    forbid(
      'migrations-stand-alone',
      'a step that was released does the same for ever, whatever the code becomes: it has its values in it',
      { path: '^src/store/migrations/', pathNot: '/migrat(e|ions)\\.ts$' },
      { pathNot: npm('kysely'), dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'chains-are-apart',
      'one chain does not know another',
      { path: '^src/chains/([^/]+)/' },
      { path: '^src/chains/([^/]+)/', pathNot: '^src/chains/$1/' },
    ),
    forbid(
      'chains-behind-their-interface',
      'above chains/ only registry.ts and chain.ts are known, and the schemas that API and configuration derive from',
      { path: '^src/', pathNot: ['^src/(chains|app)/'] },
      { path: '^src/chains/[^/]+/', pathNot: '/(schema|policy|networks)\\.(ts|json)$' },
    ),

    forbid(
      'wall-from-service',
      'the service knows the face of the sandbox and its contract, and nothing behind them',
      { path: '^src/' },
      { path: '^sandbox/', pathNot: ['^sandbox/host/sandbox\\.ts$', CONTRACT] },
    ),
    forbid(
      'host-stays-outside',
      'what the service loads never loads a thread, a child or guest code',
      { path: '^sandbox/host/' },
      { path: '^sandbox/(driver|process|guest)/' },
    ),
    forbid('wall-from-sandbox', 'the sandbox never knows the service', { path: '^sandbox/' }, { path: '^src/' }),
    forbid(
      'protocol-stands-alone',
      'the protocol is types and constants',
      { path: PROTOCOL },
      { path: '.', pathNot: [PROTOCOL, LANGUAGE_NAMES] },
    ),
    forbid(
      'both-sides-stand-alone',
      'both sides of the wall load them',
      { path: BOTH_SIDES },
      { path: '.', pathNot: PROTOCOL },
    ),
    forbid('language-names-stand-alone', 'guest and process load them', { path: LANGUAGE_NAMES }, { path: '.' }),
    forbid(
      'guest-stands-alone',
      'guest code runs in a bare isolate: it knows the guest folder, the protocol and the names of the language',
      { path: '^sandbox/guest/' },
      {
        pathNot: [
          ...['^sandbox/guest/', PROTOCOL, LANGUAGE_NAMES],
          ...[npm('(buffer|web-streams-polyfill|pako)'), NODE_PACKAGES],
        ],
      },
    ),
    forbid(
      'guest-takes-types-from-the-protocol',
      'nothing of the protocol reaches the guest bundle but its types',
      { path: '^sandbox/guest/' },
      { path: PROTOCOL, dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'process-stands-alone',
      'the program of a child is its own folder and isolated-vm: it can import nothing else',
      { path: '^sandbox/process/' },
      {
        pathNot: ['^sandbox/process/', PROTOCOL, BOTH_SIDES, LANGUAGE_NAMES, npm('isolated-vm')],
        dependencyTypesNot: ['core', 'type-only'],
      },
    ),
    forbid(
      'driver-stays-outside',
      'a trusted thread starts the child and never loads its code',
      { path: '^sandbox/driver/' },
      { path: '^sandbox/(process|guest)/', dependencyTypesNot: ['type-only'] },
    ),

    owner('buffer', npm('buffer'), '^sandbox/guest/(lazy/buffer|types/web-packages\\.d)\\.ts$'),
    owner(
      'web-streams-polyfill',
      npm('web-streams-polyfill'),
      '^sandbox/guest/(lazy/streams|types/web-packages\\.d)\\.ts$',
    ),
    owner('pako', npm('pako'), '^sandbox/guest/lazy/compression\\.ts$'),
    owner('node-packages', NODE_PACKAGES, '^sandbox/guest/lazy/'),
    owner('isolated-vm', npm('isolated-vm'), '^sandbox/process/isolate\\.ts$'),
    owner('piscina', npm('piscina'), '^sandbox/host/driver-pool\\.ts$'),
    owner('prom-client', npm('prom-client'), '^(src|test/unit/src)/observability/'),
    forbid(
      'only-owner-imports-openzeppelin',
      "the public packages serve as counterparts in tests; in a plugin the SDK's name stands for our own module",
      { path: '^(src|sandbox|examples/demo|test/load)/', pathNot: '^sandbox/test/' },
      { path: npm('@openzeppelin') },
    ),
    forbid(
      'plugins-import-no-openzeppelin-but-the-sdk',
      'a shipped plugin may import our module under the public name, and nothing else of theirs',
      { path: '^plugins/' },
      { path: npm('@openzeppelin'), pathNot: PLUGIN_SDK },
    ),
    owner('pg', npm('(pg|@types/pg)'), '^(src/store|test)/'),
    owner('sqlite', '^(node:)?sqlite$', '^(src/store|test)/'),
    owner('kysely', npm('kysely'), `^(src/(store/|${TABLES})|test/)`),
    owner('aws-sdk', npm('@aws-sdk'), '^src/signers/aws-kms\\.ts$'),
    forbid(
      'vendors-load-late',
      "a vendor's client costs time and memory: it is loaded for the first signer of its kind, and not without one",
      { path: '^src/' },
      { path: npm('@aws-sdk'), dynamic: false, dependencyTypesNot: ['type-only'] },
    ),
    owner('undici', npm('undici'), '^(src/egress|test|examples/demo)/'),
    owner('ethers', npm('ethers'), '^(src/chains/evm|src/signers|test|examples/demo|plugins)/'),
    owner('solana-web3', npm('@solana/web3\\.js'), '^(src/chains/solana|test|plugins|examples)/'),
    owner('fastify', npm('(fastify|@fastify|fastify-type-provider-zod)'), `^(src/(http/|${OPERATIONS})|test/)`),
    owner('fast-check', npm('fast-check'), '^test/support/properties\\.ts$'),
    owner(
      'esbuild',
      npm('esbuild'),
      '^(sandbox/host/compiler/|src/http/pages/console-bundle-thread\\.ts$|(sandbox/)?test/)',
    ),
    owner('preact', npm('(preact|@preact|uplot)'), '^console/'),
  ],
  options: {
    // For the sandbox's tests, whose packages are declared in the repository's package.json.
    combinedDependencies: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)\\.tap/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    builtInModules: { add: ['sqlite', 'node:sqlite'] },
    enhancedResolveOptions: {
      extensions: ['.ts', '.mjs', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
