/**
 * `npm start` takes the bundle that `npm run build` made only while it is whole and nothing that it was made from is
 * edited, and else the sources. A line at the end of `src/main.ts` tells what runs.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { appendFile, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { shippedCopy } from '../support/shipped-copy.ts';

const run = promisify(execFile);
const JSON_BODY = { 'content-type': 'application/json' };

const dir = await shippedCopy(t);
const [main, dist, temporary] = [join(dir, 'src', 'main.ts'), join(dir, 'dist'), join(dir, 'temporary')];
const lines = (await readFile(main, 'utf8')).split('\n').length;
await appendFile(main, 'process.stderr.write(`told: ${typeof __dirname} ${new Error("v1").stack}\\n`);\n');
await mkdir(temporary);

function launch(t: Test, options: readonly string[] = []) {
  const service = spawn(process.execPath, [...options, join(dir, 'bin', 'launch.mjs')], {
    cwd: dir,
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: join(dir, 'cache'),
      HOST: '127.0.0.1',
      APP_PORT: '0',
      METRICS_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => service.kill('SIGKILL'));
  return { service, exited: once(service, 'exit') };
}

/** Starts the service until it has told what runs, or another line, or has ended. Returns what it said. */
async function start(t: Test, last = /^ {4}at /, options: readonly string[] = []): Promise<string> {
  const { service, exited } = launch(t, options);
  service.stdout.resume();
  let said = '';
  for await (const line of createInterface({ input: service.stderr })) {
    said += `${line}\n`;
    if (last.test(line)) break;
  }
  service.kill('SIGKILL');
  await exited;
  return said;
}

/** Starts the service until it serves. Every post must be accepted. */
async function serve(t: Test) {
  const { service, exited } = launch(t);
  let said = '';
  service.stderr.on('data', (chunk: Buffer) => {
    said += String(chunk);
  });
  let address: string | undefined;
  for await (const line of createInterface({ input: service.stdout })) {
    address = /"address":"(http:[^"]+)".*"msg":"ready"/.exec(line)?.[1];
    if (address !== undefined) break;
  }
  t.match(said, 'told: string');
  service.stdout.resume();
  return {
    said: () => said,
    async post(path: string, body: object): Promise<void> {
      const answer = await fetch(`${address}/api/v1/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${await readFile(join(dir, 'data', 'api-key'), 'utf8')}`, ...JSON_BODY },
        body: JSON.stringify(body),
      });
      t.equal(answer.status, 201, await answer.text());
    },
    async end(): Promise<void> {
      service.kill('SIGTERM');
      t.strictSame(await exited, [0, null]);
    },
  };
}

const signer = (id: string) => ({ id, type: 'plain', config: { key: '4c'.repeat(32) } });
const bundler = () => [process.execPath, [join(dir, 'bin', 'bundle.ts')], { cwd: dir, env: env() }] as const;
const env = () => ({ PATH: process.env['PATH'], TMPDIR: temporary });
const bundle = () => run(...bundler());
const description = join(dist, 'bundle.json');
const folder = () => join(dist, (JSON.parse(readFileSync(description, 'utf8')) as { name: string }).name);
const edit = async (from: string, to: string) => writeFile(main, (await readFile(main, 'utf8')).replace(from, to));

t.test('without a bundle it starts the sources, and makes none by itself', async (t) => {
  t.match(await start(t), /^told: undefined Error: v1/);
  t.notMatch(await readFile(join(dir, 'bin', 'launch.mjs'), 'utf8'), 'child_process');
});

t.test('a bundle is started with what was compiled, and its stacks name the sources', async (t) => {
  await bundle();
  t.ok((await readdir(folder())).includes('service.compiled'));
  const told = await start(t);
  t.match(told, /^told: string Error: v1/);
  t.match(told, `${main}:${lines}`);
  t.match(await start(t, undefined, ['--no-opt']), 'told: string', 'what V8 refuses is only slower');
});

t.test('a damaged part is named, and the sources are started', async (t) => {
  const damage = (bytes: Buffer) => bytes.fill(0, bytes.length >> 1, (bytes.length >> 1) + 65_536);
  const half = (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1);
  for (const [file, change] of [
    [join(folder(), 'service.compiled'), damage],
    [join(folder(), 'service.cjs'), half],
    [description, half],
  ] as const) {
    const bytes = await readFile(file);
    await writeFile(file, change(Buffer.from(bytes)));
    const said = await start(t);
    t.match(said, 'told: undefined');
    t.match(said, basename(file));
    t.match(said, 'npm run build\n');
    if (file !== description) await writeFile(file, bytes);
  }
});

t.test('the bundler mends it, and removes what one left that was killed', async (t) => {
  const before = await readdir(dist);
  const [command, args, options] = bundler();
  const killed = spawn(command, args, { ...options, stdio: 'ignore' });
  const exited = once(killed, 'exit');
  const isTrying = async () =>
    (await readdir(dist, { recursive: true })).some((name) => name.endsWith(join('home', 'data')));
  while (killed.exitCode === null && !(await isTrying())) await delay(10);
  killed.kill('SIGKILL');
  await exited;
  t.equal((await readdir(dist)).length, before.length + 1);
  // Only that a file changes meanwhile matters, not its time.
  const later = new Date(Date.now() + 3_600_000);
  await utimes(main, later, later);
  await bundle();
  t.equal((await readdir(dist)).length, before.length + 1);
  t.strictSame(await readdir(temporary), []);
});

const replaced = { folder: '' };

t.test('bundles made beside a running service take nothing from it', async (t) => {
  replaced.folder = folder();
  const old = new Date(Date.now() - 8 * 86_400_000);
  await utimes(folder(), old, old);
  const service = await serve(t);
  await edit('"v1"', '"v2"');
  await bundle();
  await edit('"v2"', '"v3"');
  await bundle();
  t.not(folder(), replaced.folder);
  await service.post('signers', signer('replaced'));
  t.notMatch(service.said(), 'npm run build', 'from its own bundle');
  await service.end();
});

t.test('a thread or family whose part is damaged runs from its source', async (t) => {
  const service = await serve(t);
  const compiled = join(folder(), 'stellar.compiled');
  await writeFile(join(folder(), 'keys.mjs'), '');
  await writeFile(compiled, Buffer.alloc((await stat(compiled)).size));
  await service.post('signers', signer('damaged'));
  await service.post('relayers', {
    ...{ id: 'stellar', name: 'stellar', network: 'testnet', network_type: 'stellar', signer_id: 'damaged' },
    ...{ paused: true, policies: { fee_payment_strategy: 'relayer' } },
  });
  t.match(service.said(), /keys\.mjs .*npm run build\n/);
  t.match(service.said(), /stellar\.compiled .*npm run build\n/);
  await service.end();
});

t.test('an edit counts at once, also one that keeps size and time of the file', async (t) => {
  const { atime, mtime } = await stat(main);
  await edit('"v3"', '"v4"');
  await utimes(main, atime, mtime);
  const said = await start(t);
  t.match(said, 'told: undefined Error: v4');
  t.match(said, /src\/main\.ts was edited .* npm run build\n/);
});

t.test('so does an edit of a package, and a bundle that was replaced a week ago is removed', async (t) => {
  const old = new Date(Date.now() - 8 * 86_400_000);
  await utimes(replaced.folder, old, old);
  await bundle();
  t.notOk(existsSync(replaced.folder));
  t.match(await start(t), 'told: string Error: v4');
  const file = join(dir, 'node_modules', 'pino', 'pino.js');
  const text = await readFile(file, 'utf8');
  // The copy may share the file with the repository's packages.
  await rm(file);
  await writeFile(file, text);
  t.match(await start(t), 'told: undefined Error: v4');
});

t.test('a bundle that does not start is not put into place', async (t) => {
  const before = await readFile(description);
  await appendFile(main, "if (process.env['CONFIG_DIR'] !== undefined) process.exit(3);\n");
  await t.rejects(bundle(), { message: /does not start \(3\)/ });
  t.ok(before.equals(await readFile(description)));
});

t.test('a source that is broken is named, also by the bundler', async (t) => {
  const broken = join(dir, 'src', 'app', 'compose.ts');
  await appendFile(broken, 'const = 1;\n');
  t.match(await start(t, /const = 1/), `${broken}:`);
  await t.rejects(bundle(), { message: /compose\.ts:\d+/ });
  t.ok(existsSync(description));
});
