import { spawn } from 'node:child_process';
import { delimiter, join } from 'node:path';

/** What a finished command left behind. */
export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The environment in which every tool, and whatever it starts, finds the Node of the lockfile first. */
export function toolEnvironment(root: string): NodeJS.ProcessEnv {
  const bin = join(root, 'node_modules', '.bin');
  return { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`, NO_COLOR: '1' };
}

/** Runs one of the repository's tools to its end and keeps what it printed. */
export function runTool(root: string, tool: string, args: readonly string[]): Promise<CommandResult> {
  const { promise, resolve, reject } = Promise.withResolvers<CommandResult>();
  const child = spawn(join(root, 'node_modules', '.bin', tool), args, {
    cwd: root,
    env: toolEnvironment(root),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.on('error', reject);
  child.on('close', (code, signal) => {
    if (signal !== null) stderr += `\n${tool} was ended by ${signal}\n`;
    resolve({ exitCode: code ?? 1, stdout, stderr });
  });
  return promise;
}
