import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Schemas } from '../../client/api.ts';
import { ApiClient } from '../../client/client.ts';
import { Findings } from '../../config/problems.ts';
import { readVariables } from '../../config/variables.ts';
import type { PluginEntry } from '../../domain/plugin.ts';
import type { Command, CommandContext } from '../command.ts';
import { keystoreCommand } from '../keystore.ts';
import { plain } from '../remote/rows.ts';
import { configurationOf, environmentOf } from '../settings.ts';
import { startAnvil } from './anvil.ts';

const MAIN = resolve(import.meta.dirname, '..', '..', 'main.ts');
const RELAYER = 'local-1';
const READY = /address[="': ]+(http:\/\/[\d.]+:\d+)/;

/**
 * Runs everything that a plugin author needs in one terminal: a chain, a funded relayer, a service for the plugins
 * folder, and its log.
 */
export const devCommand: Command = {
  usage: 'dev [--port <port>]',
  summary:
    'Run the plugins of this folder before a chain and a funded relayer of their own, with one live log, until Ctrl-C',
  more: [
    `The relayer is ${RELAYER}, on anvil. All but the plugins is in a temporary folder, and gone in the end; of the configuration`,
    'only the entries of plugins are taken, with the environment entries that they are granted.',
  ],
  flags: [],
  options: ['port'],
  arguments: 0,
  async run(context, { options }) {
    const leaving = new AbortController();
    let isAsked = false;
    const leave = () => {
      isAsked = true;
      leaving.abort();
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, leave);
    const steps: (() => unknown)[] = [];
    try {
      const node = await startAnvil(context.env['PATH'] ?? '', context.request);
      steps.push(() => node.stop());
      context.say(`chain   anvil at ${node.url}, chain id 31337`);
      const folder = await mkdtemp(join(tmpdir(), 'isolayer-dev-'));
      steps.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
      const { env, address } = await writeFolder(context, folder, node.url, options.get('port') ?? '0');
      await node.fund(address);
      context.say(`relayer ${RELAYER}, ${address}, has 1 ether`);
      leaving.signal.throwIfAborted();
      const server = spawn(process.execPath, ['--disable-sigusr1', MAIN], {
        ...{ cwd: folder, env, detached: true },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const ended = once(server, 'exit');
      steps.push(async () => {
        server.kill('SIGTERM');
        await ended;
      });
      void ended.then(() => leaving.abort(new Error('The server has ended')));
      const url = await addressOf(server, leaving.signal, context.say);
      const key = (await readFile(join(folder, 'data', 'api-key'), 'utf8')).trim();
      const client = new ApiClient({ url, key, fetch: context.request });
      context.say(
        `ready   npx isolayer plugin call <id> --url ${url} --key "$(cat ${join(folder, 'data', 'api-key')})"`,
      );
      await tell(client, leaving.signal, context.say);
    } catch (error) {
      if (!isAsked) throw error;
    } finally {
      for (const step of steps.reverse()) await step();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeListener(signal, leave);
    }
    return 0;
  },
};

/** Writes the service's configuration. Resolves with its environment and the relayer's address. */
async function writeFolder(context: CommandContext, folder: string, rpcUrl: string, port: string) {
  const { PLUGINS_DIR } = await environmentOf(context);
  const plugins = await entriesOf(context);
  const write = async (path: string, content: object) => {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), JSON.stringify(content));
  };
  const passphrase = randomBytes(16).toString('hex');
  const file = 'config/keys/local.json';
  const secret = { type: 'env', value: 'KEYSTORE_PASSPHRASE' };
  await write('config/config.json', {
    relayers: [{ id: RELAYER, name: 'Of dev', network: 'local', network_type: 'evm', signer_id: 'key', paused: false }],
    signers: [{ id: 'key', type: 'local', config: { path: join(folder, file), passphrase: secret } }],
    ...{ notifications: [], plugins },
  });
  await write('config/networks/local.json', { network: 'local', rpc_urls: [rpcUrl] });
  await mkdir(join(folder, 'config', 'keys'));
  const said: string[] = [];
  const say = (line: string) => said.push(line);
  const silent = { ...context, cwd: folder, env: { KEYSTORE_PASSPHRASE: passphrase }, say };
  await keystoreCommand.run(silent, { values: ['new', file], flags: new Set(), options: new Map() });
  const address = /0x[0-9a-fA-F]{40}/.exec(said.join('\n'))?.[0] ?? '';
  const variables = await readVariables(context.env, context.cwd, new Findings());
  const granted = new Set(plugins.flatMap(({ permissions }) => permissions?.env ?? []));
  const env = {
    ...Object.fromEntries(Object.entries(variables).filter(([name]) => granted.has(name))),
    ...{ PATH: context.env['PATH'] ?? '', CONFIG_DIR: join(folder, 'config'), DATA_DIR: join(folder, 'data') },
    ...{ PLUGINS_DIR: resolve(context.cwd, PLUGINS_DIR), APP_PORT: port, METRICS_ENABLED: 'false' },
    ...{ KEYSTORE_PASSPHRASE: passphrase, LOG_FORMAT: 'human' },
  };
  return { env, address };
}

async function entriesOf(context: CommandContext): Promise<readonly PluginEntry[]> {
  try {
    return (await configurationOf(context)).plugins;
  } catch {
    context.complain(
      'The configuration is not right yet (npx isolayer check-config): plugins run without their entries',
    );
    return [];
  }
}

/** Prints the server's output. Resolves with its address once it is ready. */
async function addressOf(server: ChildProcess, signal: AbortSignal, say: (line: string) => void): Promise<string> {
  return await new Promise((found, fail) => {
    for (const input of [server.stdout, server.stderr]) {
      if (input === null) continue;
      createInterface({ input }).on('line', (line) => {
        say(`server  ${line}`);
        const address = READY.exec(line)?.[1];
        if (address !== undefined) found(address);
      });
    }
    signal.addEventListener('abort', () => fail(signal.reason as Error), { once: true });
    server.once('exit', (code) => fail(new Error(`The server ended with ${code} before it was ready`)));
  });
}

/** Prints calls and transactions as they happen, until the signal aborts or the server ends. */
async function tell(client: ApiClient, signal: AbortSignal, say: (line: string) => void): Promise<void> {
  for await (const { event, data } of client.follow({}, signal)) {
    if (event === 'plugin_call') {
      const { plugin_id: id, outcome, duration_ms: ms, logs } = JSON.parse(data) as Schemas['PluginCallEvent'];
      say(`plugin  ${plain(id)}: ${outcome} after ${ms} ms`);
      for (const { level, message } of logs) say(`plugin  ${plain(id)}:   ${level}: ${plain(message)}`);
    } else if (event === 'transaction') {
      const { id, status, status_reason: reason } = JSON.parse(data) as Schemas['TransactionEvent'];
      say(`tx      ${id}: ${status}${reason === null ? '' : ` (${plain(String(reason))})`}`);
    }
  }
}
