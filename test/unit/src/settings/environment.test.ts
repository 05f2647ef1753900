import t from 'tap';
import { findUnsupportedVariables, readEnvironment, readVariables } from '../../../../src/settings/environment.ts';
import { ConfigurationFindings, problemText } from '../../../../src/settings/problems.ts';

const KEY = 'k'.repeat(32);

function read(variables: Record<string, string>) {
  const findings = new ConfigurationFindings();
  const environment = readEnvironment(variables, findings);
  return { environment, problems: findings.problems.map(problemText), warnings: findings.warnings.map(problemText) };
}

t.test('the defaults', (t) => {
  const { environment, problems } = read({});
  t.strictSame(problems, []);
  t.match(environment, {
    HOST: '127.0.0.1',
    APP_PORT: 8080,
    METRICS_PORT: 8081,
    CONSOLE_ENABLED: true,
    METRICS_ENABLED: true,
    DATA_DIR: './data',
    PLUGINS_DIR: './plugins',
    LOG_LEVEL: 'info',
    REQUEST_TIMEOUT_SECONDS: 30,
    PLUGIN_MAX_PROCESSES: 16,
    RPC_BLOCK_PRIVATE_IPS: false,
    WEBHOOK_BLOCK_PRIVATE_IPS: true,
    TRANSACTION_EXPIRATION_HOURS: 4,
    RPC_ALLOWED_HOSTS: [],
  });
  t.strictSame(read({ APP_PORT: '', API_KEY: '' }).environment, environment, 'empty is not set');
  t.end();
});

t.test('a key opens the service to the outside, and nothing else does', (t) => {
  t.equal(read({ API_KEY: KEY }).environment?.HOST, '0.0.0.0');
  t.equal(read({ API_KEY: KEY, HOST: '::' }).environment?.HOST, '::');
  for (const HOST of ['127.0.0.1', '127.9.9.9', '::1', 'localhost']) t.equal(read({ HOST }).environment?.HOST, HOST);
  for (const HOST of ['0.0.0.0', '::', '10.0.0.1', 'example.test', '127.0.0.1.example.test', '::ffff:10.0.0.1']) {
    const { environment, problems } = read({ HOST });
    t.equal(environment, undefined, HOST);
    t.match(problems, [/^environment: HOST: without API_KEY .* Set API_KEY to at least 32 characters$/]);
  }
  t.end();
});

t.test('a bad value is a problem with its name and range, never a default', (t) => {
  const bad: [name: string, values: string[], says: RegExp][] = [
    ['API_KEY', ['short', 'k'.repeat(31), `${KEY} x`, `${KEY}é`], /at least 32 characters/],
    ['APP_PORT', ['http', '-1', '65536', '80.5', '0x50', ' 80'], /0 to 65535/],
    ['METRICS_PORT', ['99999'], /0 to 65535/],
    ['METRICS_ENABLED', ['yes', 'on'], /true or false/],
    ['LOG_LEVEL', ['loud'], /trace, debug, info/],
    ['REQUEST_TIMEOUT_SECONDS', ['0', '3601', '1e3'], /1 to 3600/],
    ['RATE_LIMIT_BURST_SIZE', ['0'], /1 to 1000000/],
    ['TRANSACTION_EXPIRATION_HOURS', ['0', '-1', 'four', '1e9'], /0\.01 to 87600/],
    ['STORAGE_ENCRYPTION_KEY', ['abc', 'A'.repeat(42)], /32 bytes in base64/],
    ['DATABASE_URL', ['mysql://x', 'postgres://'], /postgres:\/\//],
    ['PLUGIN_MAX_PROCESSES', ['0', '1025'], /1 to 1024/],
    ['PROVIDER_MAX_RETRIES', ['256'], /0 to 255/],
  ];
  for (const [name, values, says] of bad) {
    for (const value of values) {
      const { environment, problems } = read({ [name]: value });
      t.equal(environment, undefined, `${name}=${value}`);
      t.match(problems, [new RegExp(`^environment: ${name}: `)]);
      t.match(problems[0], says);
    }
  }
  t.end();
});

t.test('good values', (t) => {
  const { environment } = read({
    API_KEY: KEY,
    APP_PORT: '0',
    CONSOLE_ENABLED: '0',
    METRICS_ENABLED: 'FALSE',
    LOG_LEVEL: 'Debug',
    RPC_ALLOWED_HOSTS: ' A.test, b.test ,,',
    TRANSACTION_EXPIRATION_HOURS: '0.5',
    STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    DATABASE_URL: 'postgres://u:p@localhost/db',
  });
  t.match(environment, {
    APP_PORT: 0,
    CONSOLE_ENABLED: false,
    METRICS_ENABLED: false,
    LOG_LEVEL: 'debug',
    RPC_ALLOWED_HOSTS: ['a.test', 'b.test'],
    TRANSACTION_EXPIRATION_HOURS: 0.5,
  });
  t.end();
});

t.test('several problems at once, and one warning for all foreign variables', (t) => {
  const { problems, warnings } = read({
    APP_PORT: 'x',
    HOST: '0.0.0.0',
    LOG_LEVEL: 'x',
    REDIS_URL: 'r',
    QUEUE_BACKEND: 'sqs',
  });
  t.equal(problems.length, 3);
  t.match(warnings, [/QUEUE_BACKEND, REDIS_URL$/]);
  t.end();
});

t.test('a shared database needs a key that the instances share', (t) => {
  const DATABASE_URL = 'postgres://u:p@localhost/db';
  const { environment, problems } = read({ DATABASE_URL });
  t.equal(environment, undefined);
  t.strictSame(problems, [
    'environment: STORAGE_ENCRYPTION_KEY: is required with DATABASE_URL: every instance on that database must have the same key. Make one with `openssl rand -base64 32`',
  ]);
  const [fresh, old] = [7, 8].map((byte) => Buffer.alloc(32, byte).toString('base64'));
  t.strictSame(read({ DATABASE_URL, STORAGE_ENCRYPTION_KEY: `${fresh}, ${old}` }).problems, [], 'while it is changed');
  t.equal(read({ DATABASE_URL, STORAGE_ENCRYPTION_KEY: `${fresh},` }).problems.length, 1);
  t.end();
});

t.test('the names of what does not exist here, and no others', (t) => {
  const foreign = [
    'ACTIX_WORKERS',
    'BACKGROUND_WORKER_X_CONCURRENCY',
    'PLUGIN_POOL_MAX_THREADS',
    'PLUGIN_USE_POOL',
    'REDIS_URL',
    'RUST_LOG',
  ];
  const ours = [
    'API_KEY',
    'PLUGIN_MAX_PROCESSES',
    'PLUGINS_DIR',
    'LOG_LEVEL',
    'PATH',
    'MY_REDIS_URL',
    'RPC_TIMEOUT_MS',
  ];
  t.strictSame(findUnsupportedVariables(Object.fromEntries([...foreign, ...ours].map((name) => [name, '1']))), foreign);
  t.end();
});

t.test('the environment wins over the file', async (t) => {
  const dir = t.testdir({ '.env': '# comment\nA=file\nB="two words"\n' });
  t.strictSame(await readVariables({ A: 'real' }, dir, new ConfigurationFindings()), { A: 'real', B: 'two words' });
});

t.test('no file is fine, an unreadable one is not', async (t) => {
  t.strictSame(await readVariables({ A: 'real' }, t.testdir({}), new ConfigurationFindings()), { A: 'real' });
  const findings = new ConfigurationFindings();
  await readVariables({}, t.testdir({ '.env': {} }), findings);
  t.strictSame(findings.problems.map(problemText), ['.env: cannot be read (EISDIR)']);
});
