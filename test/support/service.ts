import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { quickStart } from './run-folder.ts';

/** Parsed JSON of any answer; the tests assert its shape. */
// oxlint-disable-next-line no-explicit-any -- a test reaches into answers of every shape
export type AnswerBody = any;

/** How to speak to a service. */
export interface ServiceClient {
  /** For instance `http://127.0.0.1:41234`. */
  url: string;
  apiKey: string;
  /**
   * An authenticated request; the answer's status and its parsed JSON.
   * @throws Error where the description of the API does not have such an answer
   */
  request(method: string, path: string, body?: unknown): Promise<{ status: number; body: AnswerBody }>;
  call(plugin: string, params?: unknown): Promise<{ status: number; body: AnswerBody }>;
}

/** A service that was started for a test. */
export interface StartedService extends ServiceClient {
  /** Everything it wrote to its log and its terminal so far. */
  output(): string;
  /** The same line by line, without so many of the first: cheap where much was said. */
  linesAfter(count: number): readonly string[];
  /** Ends it in good order. */
  stop(): Promise<unknown>;
  /** Ends it when a test is over, in the quickest way that there is. */
  end(): Promise<unknown>;
}

/** One that is a process of its own. */
export interface RunningService extends StartedService {
  pid: number;
  /** Resolves when it is gone, however it ended: with its exit code, or null when a signal ended it. */
  exited: Promise<number | null>;
  /** Resolves after that, when everything it wrote has been read. */
  drained: Promise<void>;
  /** Nobody reads any more what it writes. */
  loseTerminal(): void;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

/** Beyond what a busy machine takes: one that hangs ends before its test file does, with what it has said. */
const START_LIMIT_MS = 90_000;

/** Where the test run keeps compiled modules, so that a server starts sooner. */
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
 * Starts `src/main.ts`, or another entry that composes the service, with the given environment and nothing else, and
 * waits until it says that it is ready. What it tells who sits before it goes to this process's own terminal when that is
 * to be inherited.
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

/** Speaks to the service that was started with the given environment, as who has its key. */
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
    // In a test that never asks, what the description is made of is not loaded.
    const { faultOf } = await import('./described-answer.ts');
    const fault = faultOf({ method, path: path.split('?', 1)[0] ?? '', status, text });
    if (fault !== undefined) throw new Error(`not as described: ${method} ${path} ${status} ${text}: ${fault}`);
    return { status, body: JSON.parse(text) };
  };
  const call = (plugin: string, params: unknown = {}) => request('POST', `/api/v1/plugins/${plugin}/call`, { params });
  return { url, apiKey, request, call };
}

/** What a server that refuses to start prints, and its exit code. */
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
