import { spawn } from 'node:child_process';
import { delimiter, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const COMMANDS = resolve(import.meta.dirname, '..', '..', '..', 'node_modules', '.bin');
const READY = /Listening on (127\.0\.0\.1:\d+)/;

/** A local Ethereum node in its own process. */
export interface LocalNode {
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
    env: { PATH: `${COMMANDS}${delimiter}${path}` },
    stdio: ['ignore', 'pipe', 'ignore'],
    // Ctrl-C must not reach the node, because the server that uses it has to end first.
    detached: true,
  });
  const stop = () => child.kill('SIGKILL');
  process.once('exit', stop);
  const address = await new Promise<string>((found, fail) => {
    child.once('error', () => {
      fail(new Error('There is no anvil, which dev needs: install Foundry, https://getfoundry.sh, and try again'));
    });
    child.once('exit', (code) => fail(new Error(`anvil ended with ${code} before it listened`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const listening = READY.exec(line)?.[1];
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
