/**
 * README, followed: every command as it stands there, in a copy of the repository, up to a webhook for a payment of
 * one's own plugin. Only ports are others, as those of the text may be taken here.
 */
import { execFile, spawn } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
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

/** The code under a heading, in order. */
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

/** Runs a command that stays, and keeps what it writes. */
function stay(t: Test, dir: string, command: string, env: Record<string, string>): string[] {
  const child = spawn('bash', ['-c', `exec ${command}`], {
    cwd: dir,
    env: { PATH: process.env['PATH'] ?? '', HOME: dir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  t.teardown(async () => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL');
    } catch {
      // It has ended.
    }
    await exited;
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  }
  return lines;
}

async function until(lines: readonly string[], text: RegExp): Promise<string> {
  for (let found = text.exec(lines.join('\n')); ; found = text.exec(lines.join('\n'))) {
    if (found !== null) return found[1] ?? found[0];
    await delay(50);
  }
}

t.test('from nothing to a webhook for a payment of a plugin', async (t) => {
  const dir = await shippedCopy(t);
  cpSync(join(root, 'demo'), join(dir, 'demo'), { recursive: true });
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
  t.equal(receive, 'node --env-file=.env demo/webhook-receiver.mjs\n');
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
    received.flatMap((line) => /^ {4}status: '(\w+)'/.exec(line)?.[1] ?? []),
    ['sent', 'submitted', 'mined', 'confirmed'],
  );

  const [entry = ''] = blocks('A first plugin', 'json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"plugins": [', `"plugins": [\n${entry.trimEnd()},\n`));
  t.match(await shell(check), /plugin pay: pay\.ts compiles\n[^]*ok\n$/);
  await until(server, /"places":\["plugins\[\d\]"\],"msg":"the changed configuration is applied"/);
});

/** Of the only transaction that pays. */
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
