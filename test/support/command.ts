import type { CommandContext, Keyboard } from '../../src/cli/command.ts';
import { runCommand } from '../../src/cli/run.ts';

/** Runs a command of the service in a folder; resolves with its exit code and what it wrote. */
export async function runTyped(
  cwd: string,
  typed: readonly string[],
  env: Record<string, string> = {},
  keyboard: Keyboard = pipeWith(''),
) {
  const said: string[] = [];
  const complained: string[] = [];
  const context: CommandContext = {
    env,
    cwd,
    say: (line) => said.push(line),
    complain: (line) => complained.push(line),
    now: () => new Date(0),
    keyboard,
    request: fetch,
  };
  const code = await runCommand(typed, context);
  return { code, said: said.join('\n'), complained: complained.join('\n') };
}

/** Input from a pipe, which cannot be asked anything. */
export function pipeWith(text: string): Keyboard {
  return {
    isTerminal: false,
    ask: async (question) => {
      throw new Error(`asked ${question}`);
    },
    piped: async () => text,
  };
}

/** A terminal whose user gives these answers, one after the other. */
export function terminalWith(...answers: string[]): Keyboard & { asked: string[] } {
  const asked: string[] = [];
  return {
    isTerminal: true,
    asked,
    ask: async (question) => {
      asked.push(question);
      return answers[asked.length - 1] ?? '';
    },
    piped: async () => {
      throw new Error('nothing is piped');
    },
  };
}
