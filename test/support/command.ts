import type { CommandContext } from '../../src/cli/command.ts';
import { runCommand } from '../../src/cli/run.ts';

/** Runs a command of the service in a folder; resolves with its exit code and what it wrote. */
export async function runTyped(cwd: string, typed: readonly string[], env: Record<string, string> = {}) {
  const said: string[] = [];
  const complained: string[] = [];
  const context: CommandContext = {
    env,
    cwd,
    say: (line) => said.push(line),
    complain: (line) => complained.push(line),
    now: () => new Date(0),
  };
  const code = await runCommand(typed, context);
  return { code, said: said.join('\n'), complained: complained.join('\n') };
}
