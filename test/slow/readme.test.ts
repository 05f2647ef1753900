/**
 * A newcomer's commands in a copy of the repository: `npm start` without settings, and then every command of the
 * README, up to a webhook for a payment of an own plugin. Only the ports differ, because the README's ports may be in
 * use.
 */
import { execFile, spawn } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { shippedCopy } from '../support/shipped-copy.ts';

const root = join(import.meta.dirname, '..', '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const run = promisify(execFile);

/** The code blocks under a heading, in order. */
function blocks(heading: string, language: string): string[] {
  const part = readme.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...part.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map(([, code = '']) => code);
}

async function freePort(): Promise<string> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<string>();
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as { port: number };
    server.close(() => resolve(String(port)));
  });
  return await promise;
}

/** A command that keeps running. */
interface Staying {
  pid: number;
  /** Its output so far. */
  lines: string[];
  exited: Promise<number | null>;
}

/** Starts a command as the leader of a process group. The group ends with the test. */
function startGroup(t: Test, dir: string, command: string, env: Record<string, string>) {
  const child = spawn('bash', ['-c', `exec ${command}`], {
    cwd: dir,
    env: { PATH: process.env['PATH'] ?? '', HOME: dir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const { pid = 0, stdout, stderr } = child;
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  t.teardown(async () => {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // The group has ended.
    }
    await exited;
  });
  return { pid, stdout, stderr, exited };
}

/** Starts a command that keeps running, and collects its output. */
function stay(t: Test, dir: string, command: string, env: Record<string, string>): Staying {
  const { pid, stdout, stderr, exited } = startGroup(t, dir, command, env);
  const lines: string[] = [];
  for (const stream of [stdout, stderr]) {
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  }
  return { pid, lines, exited };
}

async function until({ lines }: Staying, text: RegExp): Promise<string> {
  for (let found = text.exec(lines.join('\n')); ; found = text.exec(lines.join('\n'))) {
    if (found !== null) return found[1] ?? found[0];
    await delay(50);
  }
}

/** Whether a port is free. Other tests, or another Isolayer, may use the default ports. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  server.once('error', () => resolve(false));
  server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  return await promise;
}

interface Started {
  /** The id of the npm process. */
  pid: number;
  url: string;
  /** The output on the terminal. */
  text: string;
  /** The exit code of npm. */
  exited: Promise<number | null>;
}

async function npmStart(t: Test, dir: string): Promise<Started> {
  const areDefaultsFree = (await isFree(8080)) && (await isFree(8081));
  const ports = areDefaultsFree ? {} : { APP_PORT: '0', METRICS_PORT: '0' };
  const { pid, stdout, stderr, exited } = startGroup(t, dir, 'npm start', ports);
  stdout.resume();
  const printed: string[] = [];
  for await (const line of createInterface({ input: stderr })) {
    printed.push(line);
    if (line.includes('/call')) break;
  }
  stderr.resume();
  const text = printed.join('\n');
  return { pid, url: /ready at (\S+)/.exec(text)?.[1] ?? '', text, exited };
}

/** Waits until nothing answers at this URL. */
async function untilGone(url: string): Promise<void> {
  const answers = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  while (await answers()) await delay(50);
}

const dir = await shippedCopy(t);

t.test('with no setting it is ready, its curl line runs as pasted, and Ctrl-C ends it', async (t) => {
  const begun = performance.now();
  const first = await npmStart(t, dir);
  const seconds = (performance.now() - begun) / 1000;
  t.comment(`ready after ${seconds.toFixed(1)} s, npm included`);

  const apiKey = join(dir, 'data', 'api-key');
  t.match(first.url, /^http:\/\/127\.0\.0\.1:\d+$/);
  t.match(first.text, `The API key is in ${apiKey}`);
  t.equal((await stat(apiKey)).mode & 0o777, 0o600);

  const pasted = first.text.slice(first.text.indexOf('  curl'));
  const { stdout } = await run('bash', ['-c', `${pasted.replace('curl', 'curl -s')}`], { cwd: '/', timeout: 20_000 });
  t.match(JSON.parse(stdout), { success: true, error: null });
  t.match(stdout, 'Ada');

  process.kill(-first.pid, 'SIGINT');
  t.equal(await first.exited, 0, 'Ctrl-C, which npm passes on to one that has it already, ends it in good order');
  await untilGone(first.url);
});

t.test('from nothing to a webhook for a payment of a plugin', async (t) => {
  cpSync(join(root, 'examples', 'demo'), join(dir, 'examples', 'demo'), { recursive: true });
  const anvil = await startAnvil({ blockTime: 1 });
  t.teardown(() => anvil.stop());
  const receiverPort = await freePort();
  let api = '';
  const here = (code: string) =>
    code
      .replaceAll('http://127.0.0.1:8545', anvil.url)
      .replaceAll('http://127.0.0.1:9090', `http://127.0.0.1:${receiverPort}`)
      .replaceAll('http://127.0.0.1:8080', api);
  const shell = async (code: string) => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: dir };
    return (await run('bash', ['-ec', here(code)], { cwd: dir, env, timeout: 60_000 })).stdout;
  };

  const [chain, secrets = '', network = '', check = '', money = '', receive = ''] = blocks('A first relayer', 'sh');
  t.equal(chain, 'npx anvil --block-time 1\n');
  t.match(await shell(secrets), /^evm {6}0x[0-9a-f]{40}$/m);
  await shell(network);
  const [declared = ''] = blocks('A first relayer', 'json');
  const file = join(dir, 'config', 'config.json');
  const empty = '  "relayers": [],\n  "signers": [],\n  "notifications": [],\n';
  const shipped = readFileSync(file, 'utf8');
  t.match(shipped, empty, 'the three empty lists');
  writeFileSync(file, shipped.replace(empty, here(declared)));
  t.match(await shell(check), /relayer local-1: evm local\nsigner local-key: local, opened\n[^]*\nok\n$/);

  const [fund = '', start = ''] = money.split(/^(?=npm start$)/m);
  t.match(await shell(fund), '"result":null');
  t.equal(start, 'npm start\n');
  const server = stay(t, dir, start, { APP_PORT: '0', METRICS_PORT: '0' });
  api = await until(server, /ready at (\S+)/);
  t.equal(receive, 'node --env-file=.env examples/demo/webhook-receiver.mjs\n');
  const received = stay(t, dir, receive, { PORT: receiverPort });

  const [plugin = ''] = blocks('A first plugin', 'ts');
  writeFileSync(join(dir, 'plugins', 'pay.ts'), plugin);
  await until(server, /"pluginId":"pay".*a plugin is ready/);
  const [call = ''] = blocks('A first plugin', 'sh');
  const first = await shell(call);
  t.match(JSON.parse(first), { success: true, data: { status: /mined|confirmed/, hash: /^0x/ } });
  t.equal(await shell(call), first, 'the same key pays once');
  t.equal(await anvil.rpc('eth_getTransactionCount', [await sender(anvil), 'latest']), '0x1');
  await until(received, /status: 'confirmed'/);
  t.strictSame(
    received.lines.flatMap((line) => /^ {4}status: '(\w+)'/.exec(line)?.[1] ?? []),
    ['sent', 'submitted', 'mined', 'confirmed'],
  );

  const [entry = ''] = blocks('A first plugin', 'json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"plugins": [', `"plugins": [\n${entry.trimEnd()},\n`));
  t.match(await shell(check), /plugin pay: pay\.ts compiles\n[^]*ok\n$/);
  await until(server, /"places":\["plugins\[\d\]"\],"msg":"the changed configuration is applied"/);

  process.kill(server.pid, 'SIGTERM');
  await untilGone(api);
  t.equal(await server.exited, 0, '`kill` of the npm process ends it');
});

/** The sender of the only transaction that pays. */
async function sender(anvil: { rpc(method: string, params: unknown[]): Promise<unknown> }): Promise<string> {
  const count = Number(await anvil.rpc('eth_blockNumber', []));
  for (let number = count; number > 0; number -= 1) {
    const block = (await anvil.rpc('eth_getBlockByNumber', [`0x${number.toString(16)}`, true])) as {
      transactions: { from: string }[];
    };
    const [transaction] = block.transactions;
    if (transaction !== undefined) return transaction.from;
  }
  throw new Error('nothing was sent');
}
