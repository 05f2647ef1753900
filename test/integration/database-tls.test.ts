/** TLS to PostgreSQL: a `DATABASE_URL` of a managed database means here what it means to psql. */

import { execFile } from 'node:child_process';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import t from 'tap';
import { createLog } from '../../src/observability/log.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres.ts';
import { startPostgres } from '../support/postgres.ts';
import { ownerOfServers } from '../support/postgres-binaries.ts';

const log = createLog('silent');

/** A private CA, as a managed database has, and what it signed. */
const folder = await mkdtemp('/tmp/isolayer-pg-tls-');
t.teardown(() => rm(folder, { recursive: true }));
const file = (name: string) => join(folder, name);
const openssl = async (...args: string[]) => void (await promisify(execFile)('openssl', args));
const NEW_KEY = ['req', '-x509', '-nodes', '-days', '2', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
const signed = ['-CA', file('ca.pem'), '-CAkey', file('ca.key')];
const made = (name: string) => ['-keyout', file(`${name}.key`), '-out', file(`${name}.pem`)];
await openssl(...NEW_KEY, '-subj', '/CN=A private CA', ...made('ca'));
await openssl(...NEW_KEY, '-subj', '/CN=Somebody else', ...made('stranger'));
const names = ['-addext', 'subjectAltName=DNS:localhost', '-addext', 'basicConstraints=critical,CA:FALSE'];
await openssl(...NEW_KEY, ...signed, '-subj', '/CN=localhost', ...names, ...made('server'));
await openssl(...NEW_KEY, ...signed, '-subj', '/CN=postgres', ...names, ...made('client'));

/** A server on a port of its own, where only some encryptions are allowed. */
async function serverWith(rules: string[], tls: boolean) {
  const rulesFile = file(`hba-${tls ? 'tls' : 'clear'}-${rules.join().length}`);
  await writeFile(rulesFile, ['local all all trust', ...rules].join('\n'));
  const { uid, gid } = ownerOfServers();
  if (uid !== undefined && gid !== undefined) {
    for (const name of [rulesFile, file('server.key')]) await chown(name, uid, gid);
  }
  await chmod(folder, 0o755);
  const port = await freePort();
  const settings = { listen_addresses: '127.0.0.1', port: String(port), hba_file: rulesFile };
  const secure = {
    ssl: 'on',
    ssl_cert_file: file('server.pem'),
    ssl_key_file: file('server.key'),
    ssl_ca_file: file('ca.pem'),
  };
  const postgres = await startPostgres({ settings: { ...settings, ...(tls ? secure : {}) } });
  t.teardown(() => postgres.stop());
  const local = await postgres.createDatabase();
  const database = /t_\w+/.exec(local)?.[0];
  return { local, at: (host: string, query = '') => `postgres://postgres:hunter2@${host}:${port}/${database}${query}` };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Whether the store's connections are encrypted, as the server sees it. */
async function encryptionOf(url: string, local: string): Promise<boolean[]> {
  const store = await openPostgresStore({ url, log });
  const watcher = new pg.Client({ connectionString: local });
  await watcher.connect();
  try {
    await store.write((writer) => writer.kvSet('plugin', 'key', '1'));
    const { rows } = await watcher.query(
      `select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'isolayer'`,
    );
    return rows.map(({ ssl }) => ssl);
  } finally {
    await watcher.end();
    await store.close();
  }
}

async function failureOf(url: string): Promise<string> {
  const warnings: string[] = [];
  const hear = (warning: Error) => warnings.push(warning.message);
  process.on('warning', hear);
  try {
    const store = await openPostgresStore({ url, log });
    await store.close();
    return 'it started';
  } catch (error) {
    return [error instanceof Error ? error.message : String(error), ...warnings].join('\n');
  } finally {
    process.off('warning', hear);
  }
}

const ANY = ['host all all 127.0.0.1/32 trust'];

t.test('each sslmode does what it does in libpq', async (t) => {
  const { at, local } = await serverWith(ANY, true);
  const root = (name: string) => `sslrootcert=${encodeURIComponent(file(name))}`;
  const cases: { [query: string]: boolean } = {
    '': true,
    '?sslmode=disable': false,
    '?sslmode=allow': false,
    '?sslmode=prefer': true,
    '?sslmode=require': true,
    '?sslmode=no-verify': true,
    '?sslmode=require&uselibpqcompat=true': true,
    [`?sslmode=require&${root('ca.pem')}`]: true,
    [`?sslmode=verify-ca&${root('ca.pem')}`]: true,
  };
  for (const [query, isEncrypted] of Object.entries(cases)) {
    const warnings: string[] = [];
    const hear = (warning: Error) => warnings.push(warning.message);
    process.on('warning', hear);
    t.strictSame(await encryptionOf(at('127.0.0.1', query), local), [isEncrypted], query);
    process.off('warning', hear);
    t.strictSame(warnings, [], `${query}: no library warns`);
  }
  const whole = `?sslmode=verify-full&${root('ca.pem')}`;
  t.strictSame(await encryptionOf(at('localhost', whole), local), [true], whole);
  t.strictSame(await encryptionOf(at('localhost', `${whole}&sslnegotiation=direct`), local), [true], 'TLS at once');

  const refused: { [query: string]: RegExp } = {
    '?sslmode=verify-full': /the certificate comes from a CA that is not known here .* sslrootcert=FILE/,
    '?ssl=true': /sslrootcert=FILE/,
    [`?sslmode=verify-full&${root('stranger.pem')}`]: /sslrootcert=FILE/,
    [`?sslmode=verify-ca&${root('stranger.pem')}`]: /sslrootcert=FILE/,
    [`?sslmode=require&${root('stranger.pem')}`]: /sslrootcert=FILE/,
    [whole]: /the certificate is for another host name .* sslmode=verify-ca/,
    '?sslmode=verify-ca': /sslmode=verify-ca needs sslrootcert=FILE/,
    '?sslmode=verify-full&sslrootcert=/nowhere.pem': /sslrootcert names \/nowhere\.pem, which cannot be read: ENOENT/,
    '?sslmode=on': /sslmode is one of disable, allow, prefer, require, verify-ca, verify-full$/,
  };
  for (const [query, words] of Object.entries(refused)) {
    const said = await failureOf(at('127.0.0.1', query));
    t.match(said, words, query);
    t.match(said, /^DATABASE_URL/, `${query}: names the variable`);
    t.notMatch(said, /hunter2|SECURITY WARNING|use-system-ca/, query);
  }
});

t.test('a server without TLS', async (t) => {
  const { at, local } = await serverWith(ANY, false);
  t.strictSame(await encryptionOf(at('127.0.0.1'), local), [false], 'is taken in clear by default');
  t.match(await failureOf(at('127.0.0.1', '?sslmode=require')), /has no TLS\. .* sslmode=prefer or sslmode=disable/);
  const wrong = await failureOf(at('127.0.0.1').replace(/t_\w+$/, 'nope'));
  t.match(wrong, /^DATABASE_URL \(server 127\.0\.0\.1:\d+\): database "nope" does not exist$/, 'the host is named');
});

t.test('a server that wants TLS, and a certificate of the client', async (t) => {
  const { at } = await serverWith(['hostssl all all 127.0.0.1/32 trust clientcert=verify-ca'], true);
  t.match(await failureOf(at('127.0.0.1', '?sslmode=disable')), /The server wants TLS: use sslmode=require/);
  t.match(await failureOf(at('127.0.0.1', '?sslmode=require')), /certificate/);
  const own = `sslcert=${encodeURIComponent(file('client.pem'))}&sslkey=${encodeURIComponent(file('client.key'))}`;
  const store = await openPostgresStore({ url: at('127.0.0.1', `?sslmode=allow&${own}`), log });
  t.ok(await store.now(), 'allow tries TLS when it is refused in clear');
  await store.close();
});
