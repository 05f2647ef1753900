import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { quickStart } from './run-folder.ts';

/** Parsed JSON of any answer; the tests assert its shape. */
// oxlint-disable-next-line no-explicit-any -- a test reaches into answers of every shape
export type AnswerBody = any;

/** A client of a service. */
export interface ServiceClient {
  /** For instance `http://127.0.0.1:41234`. */
  url: string;
  apiKey: string;
  /**
   * Makes an authenticated request. Returns the answer's status and its parsed JSON.
   * @throws Error if the description of the API does not have such an answer
   */
  request(method: string, path: string, body?: unknown): Promise<{ status: number; body: AnswerBody }>;
  call(plugin: string, params?: unknown): Promise<{ status: number; body: AnswerBody }>;
}

/** A service that was started for a test. */
export interface StartedService extends ServiceClient {
  /** Everything it wrote to its log and its terminal so far. */
  output(): string;
  /** The output's lines after the first `count`. Cheap even after much output. */
  linesAfter(count: number): readonly string[];
  /** Stops the service in the regular way. */
  stop(): Promise<unknown>;
  /** Ends the service after a test, in the quickest way. */
  end(): Promise<unknown>;
}

/** A service in its own process. */
export interface RunningService extends StartedService {
  pid: number;
  /** Resolves when the process has ended: with its exit code, or null when a signal ended it. */
  exited: Promise<number | null>;
  /** Resolves after `exited`, when all of the output has been read. */
  drained: Promise<void>;
  /** Stops reading the process's output. */
  loseTerminal(): void;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

/**
 * Longer than a start takes on a busy machine. A start that hangs ends before the test file does, and its output is
 * shown.
 */
const START_LIMIT_MS = 90_000;

/**
 * The environment entry with the folder in which the test run keeps compiled modules. They make a server start sooner.
 */
export function compileCache(): Record<string, string> {
  const folder = process.env['NODE_COMPILE_CACHE'];
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}

/** The options that `npm start` gives to Node. */
async function startOptions(root: string): Promise<string[]> {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } };
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
}

/**
 * Starts `src/main.ts`, or another entry that composes the service, with only the given environment. Waits until the
 * service says that it is ready. Its terminal messages go to this process's terminal if that is to be inherited.
 */
export async function startService(
  env: Record<string, string>,
  entry = 'src/main.ts',
  stderr: 'pipe' | 'inherit' = 'pipe',
): Promise<RunningService> {
  const root = join(import.meta.dirname, '..', '..');
  const child = spawn(process.execPath, [...quickStart(), ...(await startOptions(root)), join(root, entry)], {
    cwd: root,
    env: { ...compileCache(), PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', stderr],
  });
  const lines: string[] = [];
  const url = await readyAddress(child, lines);
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const drained = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  return {
    ...(await clientOf(url, env)),
    pid: child.pid ?? 0,
    exited,
    drained,
    output: () => lines.join('\n'),
    linesAfter: (count) => lines.slice(count),
    loseTerminal: () => {
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
    stop: () => {
      child.kill('SIGTERM');
      return exited;
    },
    kill,
    end: kill,
  };
}

/** Makes a client of a service started with the given environment. It has the service's API key. */
export async function clientOf(url: string, env: Record<string, string>): Promise<ServiceClient> {
  const apiKey = env['API_KEY'] ?? (await readFile(join(env['DATA_DIR'] ?? '', 'api-key'), 'utf8')).trim();
  const request = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { status } = response;
    const text = await response.text();
    // Loaded here, so that tests without requests do not load the API's description.
    const { faultOf } = await import('./described-answer.ts');
    const fault = faultOf({ method, path: path.split('?', 1)[0] ?? '', status, text });
    if (fault !== undefined) throw new Error(`not as described: ${method} ${path} ${status} ${text}: ${fault}`);
    return { status, body: JSON.parse(text) };
  };
  const call = (plugin: string, params: unknown = {}) => request('POST', `/api/v1/plugins/${plugin}/call`, { params });
  return { url, apiKey, request, call };
}

/** The output and exit code of a server that refuses to start. */
export async function startAndFail(env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  try {
    const service = await startService(env);
    await service.stop();
  } catch (error) {
    if (error instanceof ServiceExit) return { code: error.code, output: error.output };
    throw error;
  }
  throw new Error('the server started although it should have refused to');
}

class ServiceExit extends Error {
  readonly code: number | null;
  readonly output: string;

  constructor(code: number | null, output: string) {
    super(`the server ended with ${code} before it was ready:\n${output}`);
    this.code = code;
    this.output = output;
  }
}

async function readyAddress(child: ChildProcess, lines: string[]): Promise<string> {
  return await new Promise((resolve, reject) => {
    const limit = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`the server was not ready within ${START_LIMIT_MS} ms:\n${lines.join('\n')}`));
    }, START_LIMIT_MS);
    const onLine = (line: string): void => {
      lines.push(line);
      const address = /"address":"(http:[^"]+)".*"msg":"ready"/.exec(line)?.[1];
      if (address !== undefined) {
        clearTimeout(limit);
        resolve(address);
      }
    };
    for (const stream of [child.stdout, child.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', onLine);
    }
    child.once('close', (code) => {
      clearTimeout(limit);
      reject(new ServiceExit(code, lines.join('\n')));
    });
  });
}
