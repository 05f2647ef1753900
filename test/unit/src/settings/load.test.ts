import { chmod, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import type { KnownSignerKinds } from '../../../../src/settings/configuration.ts';
import { displayPath, fileErrorCode, readJsonFile } from '../../../../src/settings/json-file.ts';
import { checkKeyFiles } from '../../../../src/settings/load.ts';
import { ConfigurationError, ConfigurationFindings, problemText } from '../../../../src/settings/problems.ts';
import { createSignerKinds } from '../../../../src/signers/registry.ts';
import { load, problemsOf, relayer, signer } from '../../../support/config-folder.ts';

t.test('a small configuration is read whole', async (t) => {
  const configuration = await load(t, {
    'config/config.json': {
      $schema: './schema.json',
      relayers: [{ ...relayer, policies: { gas_price_cap: 5 } }],
      signers: [signer],
      notifications: [],
      plugins: [{ id: 'p', path: 'p.ts', permissions: { relayers: { r1: ['read'] } } }],
    },
  });
  t.strictSame(configuration.warnings, []);
  t.match(configuration.relayers, [
    {
      id: 'r1',
      networkType: 'evm',
      signerId: 's1',
      notificationId: null,
      customRpcUrls: null,
      policies: { gas_price_cap: 5 },
    },
  ]);
  t.match(configuration.relayers[0]?.declaration, relayer, 'the entry as the file has it');
  t.match(configuration.signers, [signer]);
  t.match(configuration.plugins, [{ id: 'p', timeout: 300 }]);
  t.equal(configuration.networks.length, 3);
  t.equal(configuration.environment.HOST, '127.0.0.1');
});

t.test('an empty object is enough', async (t) => {
  const { relayers, plugins } = await load(t, { 'config/config.json': {} });
  t.strictSame([relayers, plugins], [[], []]);
});

t.test('the first start makes a missing file from the example, and never changes one', async (t) => {
  const files = { 'config/config.example.json': { plugins: [{ id: 'hello', path: 'hello.ts' }] } };
  t.match(await problemsOf(t, files), [/config\.json/], 'a check makes none');
  const first = { isFirst: true };
  t.match((await load(t, files, {}, first)).plugins, [{ id: 'hello' }]);
  t.strictSame((await load(t, { ...files, 'config/config.json': {} }, {}, first)).plugins, []);
});

t.test('every problem is named at once, each at its place', async (t) => {
  const problems = await problemsOf(
    t,
    {
      'config/config.json': {
        relayers: [
          { ...relayer, id: 'a b', policies: { gas_price_capp: 1 } },
          { ...relayer, network: 'sepolai', signer_id: 's2', notification_id: 'n9' },
          { ...relayer, network_type: 'solana' },
        ],
        signers: [signer, { ...signer, id: 's3', type: 'locl' }],
        notifications: [
          { id: 'n1', type: 'webhook', url: 'https://x.test', signing_key: { type: 'env', value: 'KEY' } },
        ],
        plugins: [{ id: 'p', path: 'p.ts', permisions: {} }],
      },
      'config/networks/broken.json': '{"network":',
    },
    { APP_PORT: '70000' },
  );
  const expected = [
    'environment: APP_PORT: must be a whole number from 0 to 65535',
    'relayers[0].id: ID must contain only',
    'relayers[0].policies.gas_price_capp: unknown key. Did you mean "gas_price_cap"?',
    'relayers[1].network: there is no evm network "sepolai". Did you mean "sepolia"?',
    'relayers[1].signer_id: there is no signer "s2". Did you mean "s1"?',
    'relayers[1].notification_id: there is no notification "n9"',
    'relayers[2].id: "r1" is already the id of relayers[1]',
    'relayers[2].network_type: relayers of type solana are not available',
    'signers[1].type: there is no signer type "locl". Did you mean "local"?',
    'notifications[0].signing_key: the environment variable KEY is not set',
    'plugins[0].permisions: unknown key. Did you mean "permissions"?',
    'networks/broken.json: is not valid JSON: the text ends, expected a value at line 1 column 12',
  ];
  for (const text of expected)
    t.ok(
      problems.some((problem) => problem.includes(text)),
      text,
    );
  t.equal(problems.length, expected.length + 1, problems.join('\n'));
});

t.test('what a kind of signer looks into by itself is granted to no plugin while there is one', async (t) => {
  const plugins = [{ id: 'p', path: 'p.ts', permissions: { env: ['SEALED_TOKEN'] } }];
  const sealed = { id: 's2', type: 'sealed', config: {} };
  t.match(await problemsOf(t, { 'config/config.json': { signers: [signer, sealed], plugins } }), [
    /SEALED_TOKEN is a credential of the service/,
  ]);
  t.strictSame((await load(t, { 'config/config.json': { signers: [signer], plugins } })).warnings, []);
});

t.test('a file that is missing or unreadable is named with what to do', async (t) => {
  const [missing] = await problemsOf(t, {}, { CONFIG_DIR: 'conf', CONFIG_FILE_NAME: 'my.json' });
  t.match(missing, /^conf\/my\.json: there is no such file\. Create it with \{ "relayers": \[\]/);
  t.match(await problemsOf(t, { 'config/config.json': '{"relayers": [],}' }), [
    /config\.json: is not valid JSON.*line 1 column 17/,
  ]);
  t.match(await problemsOf(t, { 'config/config.json': '[]' }), [/must be a JSON object/]);
  t.match(await problemsOf(t, { 'config/config.json': { relayers: {} } }), [/relayers: must be an array/]);
});

t.test('what the reference ignores is a warning, and a slip of what is known is a problem', async (t) => {
  const { warnings } = await load(
    t,
    { 'config/config.json': { queue: {}, relayers: [{ ...relayer, colour: 'red' }], signers: [signer] } },
    { REDIS_URL: 'redis://x' },
  );
  t.match(warnings, [
    /environment: these variables have no meaning here and are ignored: REDIS_URL/,
    /config\.json: queue: unknown key, ignored$/,
    /relayers\[0\]\.colour: unknown key, ignored$/,
  ]);
  const slips = { relayer: [], relayers: [{ ...relayer, policy: { gas_price_cap: 1 } }], signers: [signer] };
  t.match(await problemsOf(t, { 'config/config.json': slips }), [
    /config\.json: relayer: unknown key\. Did you mean "relayers"\?/,
    /relayers\[0\]\.policy: unknown key\. Did you mean "policies"\?/,
  ]);
});

t.test('a .env file is read, and the real environment wins', async (t) => {
  const { environment, variables } = await load(
    t,
    { 'config/config.json': {}, '.env': 'APP_PORT=1111\nMETRICS_PORT=2222\nFOR_PLUGIN="a b"\n' },
    { APP_PORT: '3333' },
  );
  t.equal(environment.APP_PORT, 3333);
  t.equal(environment.METRICS_PORT, 2222);
  t.equal(variables['FOR_PLUGIN'], 'a b');
});

t.test('integers beyond 2^53 keep their digits', async (t) => {
  const { relayers } = await load(t, {
    'config/config.json': `{"relayers":[${JSON.stringify({ ...relayer, policies: {} }).replace('"policies":{}', '"policies":{"gas_price_cap":123456789012345678901}')}],"signers":[${JSON.stringify(signer)}]}`,
  });
  t.strictSame(relayers[0]?.policies, { gas_price_cap: '123456789012345678901' });
});

t.test('no secret is ever part of a problem', async (t) => {
  const problems = await problemsOf(
    t,
    {
      'config/config.json': `{"signers":[{"id":"s1","type":"local","config":{"path":1,"passphrase":{"type":"plain","value":"hunter2"}}}] "x"`,
    },
    { API_KEY: 'hunter3', DATABASE_URL: 'mysql://u:hunter4@x', STORAGE_ENCRYPTION_KEY: 'hunter5' },
  );
  t.equal(problems.length, 4);
  t.notMatch(problems.join('\n'), /hunter/);
});

t.test('a keystore that others can read is a warning with the cure, once per file', async (t) => {
  const cwd = t.testdir({ keys: {} });
  for (const [name, mode] of Object.entries({ own: 0o600, group: 0o640, all: 0o644 })) {
    await writeFile(join(cwd, 'keys', name), '{}');
    await chmod(join(cwd, 'keys', name), mode);
  }
  await symlink('own', join(cwd, 'keys', 'link'));
  const signers = ['keys/own', 'keys/link', 'keys/group', join(cwd, 'keys/all'), './keys/all', 'keys/none'].map(
    (path, index) => ({ id: `s${index}`, type: 'local', config: { path } }),
  );
  const findings = new ConfigurationFindings();
  const signerKinds: KnownSignerKinds = createSignerKinds();
  const elsewhere = { id: 'v', type: 'vault', config: {} };
  await checkKeyFiles([...signers, elsewhere], { signerKinds, cwd }, findings);
  t.strictSame(findings.warnings.map(problemText), [
    'keys/group: others on this machine can use this keystore. Keep it to its owner: chmod 600 keys/group',
    'keys/all: others on this machine can use this keystore. Keep it to its owner: chmod 600 keys/all',
  ]);
  t.strictSame(findings.problems, []);
});

t.test('JSON is read, a byte order mark is not', async (t) => {
  const dir = t.testdir({ 'a.json': '\uFEFF{"a":12345678901234567890}' });
  const findings = new ConfigurationFindings();
  t.strictSame(await readJsonFile(join(dir, 'a.json'), 'a.json', findings), { value: { a: '12345678901234567890' } });
  t.strictSame(findings.problems, []);
});

t.test('each way of failing is a problem under the name the operator knows', async (t) => {
  const dir = t.testdir({ 'bad.json': '{\n  "a": hunter2\n}', folder: {} });
  const findings = new ConfigurationFindings();
  t.equal(await readJsonFile(join(dir, 'bad.json'), 'bad.json', findings), undefined);
  t.equal(await readJsonFile(join(dir, 'none.json'), 'none.json', findings, 'Make it'), undefined);
  t.equal(await readJsonFile(join(dir, 'folder'), 'folder', findings), undefined);
  t.strictSame(findings.problems.map(problemText), [
    'bad.json: is not valid JSON: expected a value at line 2 column 8',
    'none.json: there is no such file. Make it',
    'folder: cannot be read (EISDIR)',
  ]);
  await chmod(join(dir, 'bad.json'), 0o600);
});

t.test('paths are shown as the operator would type them', (t) => {
  t.equal(displayPath('/a', '/a/config/c.json'), 'config/c.json');
  t.equal(displayPath('/a', '/a'), '.');
  t.equal(displayPath('/a/b', '/etc/c.json'), '/etc/c.json');
  t.equal(fileErrorCode('odd'), 'odd');
  t.end();
});

t.test('the error names all of them', (t) => {
  const findings = new ConfigurationFindings();
  findings.settle();
  findings.warn('f', 'w', 'odd');
  findings.settle();
  findings.problem('f', 'a', 'wrong');
  findings.problem('g', '', 'missing', 'Make it');
  t.throws(() => findings.settle(), new ConfigurationError(findings.problems));
  t.equal(
    new ConfigurationError(findings.problems).message,
    'The configuration has 2 problems:\n  - f: a: wrong\n  - g: missing. Make it',
  );
  t.match(new ConfigurationError(findings.problems.slice(0, 1)).message, /^The configuration has one problem:\n/);
  t.end();
});
