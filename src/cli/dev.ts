import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Schemas } from '../client/api.ts';
import { ApiClient } from '../client/client.ts';
import type { PluginEntry } from '../features/plugins/records/plugin.ts';
import { digestFiles, watchConfiguration } from '../settings/watch.ts';
import type { Command, CommandContext } from './command.ts';
import { keystoreCommand } from './keystore.ts';
import { escapeForTerminal } from './remote/client.ts';
import { configurationFile, readPluginConfiguration } from './settings.ts';

const MAIN = resolve(import.meta.dirname, '..', 'main.ts');

const RELAYER = 'local-1';

/** In the service's folder. */
const KEY_FILE = 'config/keys/local.json';

/** How often the author's configuration is looked at. */
const FOLLOW_MS = 300;

const SERVER_READY = /address[="': ]+(http:\/\/[\d.]+:\d+)/;

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
    let isInterrupted = false;
    const leave = () => {
      isInterrupted = true;
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
      const { env, address, granted } = await writeFolder(context, folder, node.url, options.get('port') ?? '0');
      await node.fund(address);
      context.say(`relayer ${RELAYER}, ${address}, has 1 ether`);
      leaving.signal.throwIfAborted();
      const server = spawn(process.execPath, ['--disable-sigusr1', MAIN], {
        cwd: folder,
        env,
        detached: true,
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
      steps.push(await followEntries(context, folder, granted));
      await printEvents(client, leaving.signal, context.say);
    } catch (error) {
      if (!isInterrupted) throw error;
    } finally {
      for (const step of steps.reverse()) await step();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeListener(signal, leave);
    }
    return 0;
  },
};

/** Writes the service's configuration. Resolves with its environment and the relayer's address. */
async function writeFolder(context: CommandContext, folder: string, rpcUrl: string, port: string) {
  const { environment, variables, plugins, fault } = await readPluginConfiguration(context);
  if (fault !== undefined) context.complain(`${fault}: plugins run without entries`);
  const passphrase = randomBytes(16).toString('hex');
  await mkdir(join(folder, 'config', 'networks'), { recursive: true });
  await mkdir(join(folder, 'config', 'keys'));
  await writeConfig(folder, plugins);
  const network = { network: 'local', rpc_urls: [rpcUrl] };
  await writeFile(join(folder, 'config', 'networks', 'local.json'), JSON.stringify(network));
  const output: string[] = [];
  const say = (line: string) => output.push(line);
  const silent = { ...context, cwd: folder, env: { KEYSTORE_PASSPHRASE: passphrase }, say };
  await keystoreCommand.run(silent, { values: ['new', KEY_FILE], flags: new Set(), options: new Map() });
  const address = /0x[0-9a-fA-F]{40}/.exec(output.join('\n'))?.[0] ?? '';
  const granted = grantedBy(plugins);
  const env = {
    ...Object.fromEntries(Object.entries(variables).filter(([name]) => granted.has(name))),
    PATH: context.env['PATH'] ?? '',
    CONFIG_DIR: join(folder, 'config'),
    DATA_DIR: join(folder, 'data'),
    PLUGINS_DIR: resolve(context.cwd, environment.PLUGINS_DIR),
    APP_PORT: port,
    METRICS_ENABLED: 'false',
    KEYSTORE_PASSPHRASE: passphrase,
    LOG_FORMAT: 'human',
  };
  return { env, address, granted };
}

/**
 * Copies the entries of plugins into the service's configuration whenever the author's file changes. The service
 * applies them as it runs.
 */
async function followEntries(context: CommandContext, folder: string, granted: ReadonlySet<string>) {
  const { variables } = await readPluginConfiguration(context);
  const file = configurationFile(context.cwd, variables);
  const watched = { files: [file], folder: join(dirname(file), 'networks') };
  return watchConfiguration({
    ...watched,
    since: await digestFiles(watched),
    everyMs: FOLLOW_MS,
    async onChange() {
      const { plugins, fault } = await readPluginConfiguration(context);
      if (fault !== undefined) return context.complain(`config  ${fault}: the plugins keep their entries`);
      await writeConfig(folder, plugins);
      context.say('config  plugin entries reloaded');
      const added = [...grantedBy(plugins)].filter((name) => !granted.has(name));
      if (added.length > 0) context.say(`config  restart dev for the environment variables ${added.join(', ')}`);
    },
  });
}

function grantedBy(plugins: readonly PluginEntry[]): Set<string> {
  return new Set(plugins.flatMap(({ permissions }) => permissions?.env ?? []));
}

/** Writes the service's configuration file, all of it at once. */
async function writeConfig(folder: string, plugins: readonly PluginEntry[]): Promise<void> {
  const secret = { type: 'env', value: 'KEYSTORE_PASSPHRASE' };
  const content = {
    relayers: [{ id: RELAYER, name: 'Of dev', network: 'local', network_type: 'evm', signer_id: 'key', paused: false }],
    signers: [{ id: 'key', type: 'local', config: { path: join(folder, KEY_FILE), passphrase: secret } }],
    notifications: [],
    plugins,
  };
  const file = join(folder, 'config', 'config.json');
  await writeFile(`${file}.new`, JSON.stringify(content));
  await rename(`${file}.new`, file);
}

/** Prints the server's output. Resolves with its address once it is ready. */
async function addressOf(server: ChildProcess, signal: AbortSignal, say: (line: string) => void): Promise<string> {
  return await new Promise((found, fail) => {
    for (const input of [server.stdout, server.stderr]) {
      if (input === null) continue;
      createInterface({ input }).on('line', (line) => {
        say(`server  ${line}`);
        const address = SERVER_READY.exec(line)?.[1];
        if (address !== undefined) found(address);
      });
    }
    signal.addEventListener('abort', () => fail(signal.reason as Error), { once: true });
    server.once('exit', (code) => fail(new Error(`The server ended with ${code} before it was ready`)));
  });
}

/** Prints calls and transactions as they happen, until the signal aborts or the server ends. */
async function printEvents(client: ApiClient, signal: AbortSignal, say: (line: string) => void): Promise<void> {
  for await (const { event, data } of client.follow({}, signal)) {
    if (event === 'plugin_call') {
      const { plugin_id: id, outcome, duration_ms: ms, logs } = JSON.parse(data) as Schemas['PluginCallEvent'];
      say(`plugin  ${escapeForTerminal(id)}: ${outcome} after ${ms} ms`);
      for (const { level, message } of logs) {
        for (const [at, line] of message.split('\n').entries()) {
          say(`plugin  ${escapeForTerminal(id)}:   ${at === 0 ? `${level}: ` : ''}${escapeForTerminal(line)}`);
        }
      }
    } else if (event === 'transaction') {
      const { id, status, status_reason: reason } = JSON.parse(data) as Schemas['TransactionEvent'];
      say(`tx      ${id}: ${status}${reason === null ? '' : ` (${escapeForTerminal(String(reason))})`}`);
    }
  }
}

const NODE_COMMANDS = resolve(import.meta.dirname, '..', '..', 'node_modules', '.bin');

const ANVIL_READY = /Listening on (127\.0\.0\.1:\d+)/;

/** A local Ethereum node in its own process. */
interface LocalNode {
  readonly url: string;
  /** Gives the account one ether. */
  fund(address: string): Promise<void>;
  stop(): void;
}

/**
 * Starts anvil on a free port of this machine. Uses the one in `node_modules`, or else the one on the `PATH`.
 * @throws Error that says what to install when there is no anvil
 */
export async function startAnvil(path: string, request: typeof fetch, command = 'anvil'): Promise<LocalNode> {
  const child = spawn(command, ['--port', '0'], {
    env: { PATH: `${NODE_COMMANDS}${delimiter}${path}` },
    stdio: ['ignore', 'pipe', 'ignore'],
    // Ctrl-C must not reach the node, because the server that uses it has to end first.
    detached: true,
  });
  const stop = () => child.kill('SIGKILL');
  process.once('exit', stop);
  const address = await new Promise<string>((found, fail) => {
    child.once('error', () => {
      fail(new Error('dev needs anvil, which is not installed: install Foundry, https://getfoundry.sh, and try again'));
    });
    child.once('exit', (code) => fail(new Error(`anvil ended with ${code} before it listened`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const listening = ANVIL_READY.exec(line)?.[1];
      if (listening !== undefined) found(listening);
    });
  });
  const url = `http://${address}`;
  return {
    url,
    async fund(account) {
      const body = { jsonrpc: '2.0', id: 1, method: 'anvil_setBalance', params: [account, '0xde0b6b3a7640000'] };
      const headers = { 'content-type': 'application/json' };
      const answer = await request(url, { method: 'POST', headers, body: JSON.stringify(body) });
      if (!answer.ok) throw new Error(`anvil answers ${answer.status}`);
      await answer.arrayBuffer();
    },
    stop() {
      process.removeListener('exit', stop);
      stop();
    },
  };
}
