/** Threat: a service whose database hangs cannot be stopped, until somebody kills it in the middle of its work. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { instancesFor, RECEIVER, TRANSACTIONS, TRANSFER } from '../support/instances.ts';
import { startPostgres } from '../support/postgres.ts';
import { quickStart } from '../support/run-folder.ts';
import { compileCache } from '../support/service.ts';
import { startSilentDatabase } from '../support/silent-database.ts';
import { createWorkspace } from '../support/workspace.ts';

const postgres = await startPostgres();
t.teardown(() => postgres.stop());

/** An allowance for a busy machine. */
const SLACK_MS = 8_000;

const SHARED = {
  HOST: '127.0.0.1',
  API_KEY: 'a-key-of-more-than-thirty-two-characters',
  STORAGE_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
};

/** A start that waits for its database. */
async function startOn(t: Test, url: string) {
  const workspace = await createWorkspace();
  t.teardown(() => workspace.remove());
  const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
  const server = spawn(process.execPath, [...quickStart(), main], {
    env: { PATH: process.env['PATH'] ?? '', ...compileCache(), ...workspace.env, ...SHARED, DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => server.kill('SIGKILL'));
  let said = '';
  for (const stream of [server.stdout, server.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  }
  const exited = once(server, 'exit');
  return {
    output: () => said,
    async stop() {
      const began = performance.now();
      server.kill('SIGTERM');
      const [code, signal] = (await exited) as [number | null, string | null];
      return { code, signal, ms: performance.now() - began };
    },
  };
}

t.test('a start whose database falls silent under its hands ends at once', async (t) => {
  const front = await startSilentDatabase(await postgres.createDatabase());
  t.teardown(() => front.stop());
  const start = await startOn(t, front.url);
  // The first connection migrates the schema. Later ones belong to the store.
  await front.connected(2);
  front.silence();
  const { code, signal, ms } = await start.stop();
  t.strictSame([code, signal], [0, null], start.output());
  t.match(start.output(), 'the database did not answer in time');
  t.ok(ms < SLACK_MS, `${Math.round(ms)} ms`);
});

const instances = await instancesFor(t, postgres);

/** A service with an accepted transaction and a running request. Its database no longer answers. */
async function hung(silence: () => unknown, env: Record<string, string>) {
  const service = await instances.start(env);
  t.equal((await service.request('POST', TRANSACTIONS, TRANSFER)).status, 200);
  await silence();
  const request = service.request('GET', TRANSACTIONS).catch((error: unknown) => error);
  return { service, request };
}

/** The longest time from the signal to the exit: the grace period and the closing after it. */
const WITHIN_MS = 2_000 + 4_500 + SLACK_MS;

t.test('a service whose database was stopped ends within its grace, and what it accepted is done later', async (t) => {
  t.teardown(() => postgres.thaw());
  const { service, request } = await hung(() => postgres.freeze(), { SHUTDOWN_GRACE_SECONDS: '2' });
  const began = performance.now();
  t.equal(await service.stop(), 0, service.output().slice(-3000));
  const ms = performance.now() - began;
  t.ok(ms < WITHIN_MS, `${Math.round(ms)} ms`);
  t.match(service.output(), 'the database did not answer in time');
  await request;
  postgres.thaw();

  const later = await instances.compose();
  const paid = async () => BigInt(String(await instances.anvil.rpc('eth_getBalance', [RECEIVER, 'latest'])));
  for (let tries = 0; (await paid()) === 0n && tries < 600; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  t.equal(await paid(), 7n);
  await later.stop();
});

t.test('a second signal ends a service at once that the network cut off from its database', async (t) => {
  const front = await startSilentDatabase(await postgres.createDatabase());
  t.teardown(() => front.stop());
  const env = { SHUTDOWN_GRACE_SECONDS: '600', DATABASE_URL: front.url };
  const { service, request } = await hung(() => front.silence(), env);
  const ended = service.stop();
  for (let tries = 0; !service.output().includes('once more ends at once') && tries < 1_000; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  // Two signals within a second count as one, because npm repeats the terminal's signal.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  process.kill(service.pid, 'SIGINT');
  t.equal(await ended, 1);
  await request;
});
