import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, join } from 'node:path';

export interface Anvil {
  readonly url: string;
  readonly port: number;
  /** Funded accounts with their keys: anvil's own, the same in every run. */
  readonly accounts: readonly AnvilAccount[];
  /** Sends one JSON-RPC call to the node, past everything under test. */
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>;
  /** Safe to call twice. */
  stop(): Promise<void>;
}

export interface AnvilAccount {
  /** Lower case, `0x`. */
  readonly address: string;
  /** `0x` and 64 hex digits. */
  readonly privateKey: string;
}

export interface AnvilOptions {
  /**
   * Seconds between blocks. Absent: a block for each transaction. In that mode anvil sometimes holds back a transaction
   * for ever, so a test that waits for a mined transaction gives a time.
   */
  blockTime?: number;
  /** More command line arguments. */
  args?: readonly string[];
}

const READY = /Listening on 127\.0\.0\.1:(\d+)/;
const READY_WITHIN_MS = 20_000;

/** Starts a real anvil (chain id 31337) on a free port and waits until it listens. */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const blockTime = options.blockTime === undefined ? [] : ['--block-time', String(options.blockTime)];
  const child = spawn('anvil', ['--port', '0', ...blockTime, ...(options.args ?? [])], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: withInstalledCommands() },
  });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);

  const greeting = await readGreeting(child).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  const port = Number(READY.exec(greeting)?.[1]);
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    port,
    accounts: readAccounts(greeting),
    rpc: (method, params = []) => call(url, method, params),
    async stop() {
      process.removeListener('exit', killWithUs);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}

function withInstalledCommands(): string {
  const commands = join(import.meta.dirname, '..', '..', 'node_modules', '.bin');
  return `${commands}${delimiter}${process.env['PATH'] ?? ''}`;
}

/** Reads what anvil prints until it listens. Later output is read and dropped, so that the pipe never fills. */
function readGreeting(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    let listening = false;
    const read = (chunk: Buffer) => {
      if (listening) return;
      output += chunk.toString('utf8');
      listening = READY.test(output);
      if (listening) resolve(output);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`anvil ended with ${code} before it listened:\n${output}`)));
    const overdue = () => reject(new Error(`anvil did not listen within ${READY_WITHIN_MS} ms:\n${output}`));
    setTimeout(overdue, READY_WITHIN_MS).unref();
  });
}

function readAccounts(greeting: string): AnvilAccount[] {
  const addresses = [...greeting.matchAll(/\(\d+\) (0x[0-9a-fA-F]{40})\b/g)].map((match) => String(match[1]));
  const keys = [...greeting.matchAll(/\(\d+\) (0x[0-9a-fA-F]{64})\b/g)].map((match) => String(match[1]));
  return keys.map((privateKey, index) => ({ address: String(addresses[index]).toLowerCase(), privateKey }));
}

async function call(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const answer = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}
