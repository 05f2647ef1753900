import { spawn } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';

/** What a finished command left behind. */
export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

const foreign = /^(?:_?TAP.*|NODE_OPTIONS|CI|GITHUB_ACTIONS|FORCE_COLOR|CLICOLOR_FORCE)$/;
const toolFolder = join(import.meta.dirname, '..', '..', 'node_modules', '.bin');

/** Where the repository's tools are installed. */
function toolPath(tool: string): string {
  return join(toolFolder, tool);
}

/**
 * The environment in which every tool, and whatever it starts, finds the Node of the lockfile first. What a test runner
 * sets for its own children is left out, as a tool that is itself under test would load the runner's hooks; so is what
 * makes tools print differently on a build server, as the checks read what they print.
 */
export function toolEnvironment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  return {
    ...Object.fromEntries(inherited),
    PATH: [toolFolder, dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
    NO_COLOR: '1',
  };
}

/** Runs one of the repository's tools over a folder to its end and keeps what it printed. */
export function runTool(root: string, tool: string, args: readonly string[]): Promise<CommandResult> {
  const { promise, resolve, reject } = Promise.withResolvers<CommandResult>();
  const child = spawn(toolPath(tool), args, {
    cwd: root,
    env: toolEnvironment(),
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
