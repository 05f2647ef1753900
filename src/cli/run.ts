import { parseArgs } from 'node:util';
import { backupCommand } from './backup.ts';
import { checkConfigCommand } from './check-config.ts';
import type { Command, CommandContext } from './command.ts';
import { keystoreCommand } from './keystore.ts';
import { restoreCommand } from './restore.ts';
import { schemaCommand } from './schema.ts';

/** Exit code of a command that was typed wrongly. */
const WRONG_USAGE = 2;

const COMMANDS: Readonly<Record<string, Command>> = {
  'check-config': checkConfigCommand,
  keystore: keystoreCommand,
  backup: backupCommand,
  restore: restoreCommand,
  schema: schemaCommand,
};

/** Runs what was typed; resolves with the exit code. What goes wrong is a line, never a stack. */
export async function runCommand(typed: readonly string[], context: CommandContext): Promise<number> {
  const [name, ...rest] = typed;
  if (name === 'help' || name === '--help' || name === '-h') {
    help(context.say);
    return 0;
  }
  const command = name === undefined || !Object.hasOwn(COMMANDS, name) ? undefined : COMMANDS[name];
  if (command === undefined) {
    return wrong(context, name === undefined ? 'Say which command.' : `There is no command "${name}".`);
  }
  const given = readArguments(command, rest);
  if (typeof given === 'string') return wrong(context, given);
  try {
    return await command.run(context, given);
  } catch (error) {
    for (const line of reasonsOf(error)) context.complain(line);
    return 1;
  }
}

function readArguments(command: Command, rest: string[]): { values: string[]; flags: Set<string> } | string {
  try {
    const options = Object.fromEntries(command.flags.map((flag) => [flag, { type: 'boolean' as const }]));
    const { values, positionals } = parseArgs({ args: rest, options, allowPositionals: true });
    const { least, most } =
      typeof command.arguments === 'number' ? { least: command.arguments, most: command.arguments } : command.arguments;
    if (positionals.length < least || positionals.length > most) return `It is: ${command.usage}`;
    return { values: positionals, flags: new Set(Object.keys(values)) };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function wrong({ complain }: CommandContext, reason: string): number {
  complain(`${reason}\n`);
  help(complain);
  return WRONG_USAGE;
}

function help(say: (line: string) => void): void {
  say('npm run isolayer -- <command>\n');
  for (const { usage, summary } of [...Object.values(COMMANDS), { usage: 'help', summary: 'Show this' }]) {
    say(`  ${usage}\n      ${summary}`);
  }
}

function reasonsOf(error: unknown): string[] {
  if (error instanceof AggregateError) return error.errors.flatMap(reasonsOf);
  return [error instanceof Error ? error.message : String(error)];
}
