import { parseArgs } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { nearestName } from '../domain/json/issue-text.ts';
import { backupCommand, restoreCommand } from './backup.ts';
import { checkConfigCommand } from './check-config.ts';
import { type Command, type CommandArguments, type CommandContext, WrongUsage } from './command.ts';
import { devCommand } from './dev.ts';
import { importCommand } from './import/import.ts';
import { keystoreCommand } from './keystore.ts';
import { pluginCommand } from './plugin/plugin.ts';
import { callsCommand } from './remote/calls.ts';
import { keysCommand, pluginsCommand, relayersCommand, whoamiCommand } from './remote/lists.ts';
import { logsCommand } from './remote/logs.ts';
import { txCommand } from './remote/tx.ts';
import { webhooksCommand } from './remote/webhooks.ts';
import { schemaCommand } from './schema.ts';

const VERSION: string = manifest.version;

/** The exit code for wrong usage. */
const WRONG_USAGE = 2;

const COMMANDS: Readonly<Record<string, Command>> = {
  'check-config': checkConfigCommand,
  plugin: pluginCommand,
  dev: devCommand,
  import: importCommand,
  relayers: relayersCommand,
  tx: txCommand,
  plugins: pluginsCommand,
  logs: logsCommand,
  calls: callsCommand,
  webhooks: webhooksCommand,
  keys: keysCommand,
  whoami: whoamiCommand,
  keystore: keystoreCommand,
  backup: backupCommand,
  restore: restoreCommand,
  schema: schemaCommand,
};

/** Runs a command line; resolves with the exit code. Prints an error as a line, never as a stack. */
export async function runCommand(typed: readonly string[], context: CommandContext): Promise<number> {
  const [name, ...rest] = typed;
  if (name === '--version' || name === '-v') {
    context.say(VERSION);
    return 0;
  }
  const asked = name === 'help' ? rest[0] : name;
  const isAbout = asked !== undefined && Object.hasOwn(COMMANDS, asked) ? COMMANDS[asked] : undefined;
  const asksHelp = name === 'help' || [name, ...rest].some((one) => one === '--help' || one === '-h');
  if (asksHelp) {
    if (isAbout === undefined) help(context.say);
    else helpOf(isAbout, context.say);
    return 0;
  }
  const command = name === undefined || !Object.hasOwn(COMMANDS, name) ? undefined : COMMANDS[name];
  if (command === undefined) {
    if (name === undefined) return wrong(context, 'Name a command.');
    const meant = nearestName(name, [...Object.keys(COMMANDS), 'help']);
    return wrong(context, `There is no command "${name}".${meant === undefined ? '' : ` Did you mean ${meant}?`}`);
  }
  const given = readArguments(command, rest);
  if (typeof given === 'string') return wrong(context, given);
  try {
    return await command.run(context, given);
  } catch (error) {
    for (const line of reasonsOf(error)) context.complain(line);
    return error instanceof WrongUsage ? WRONG_USAGE : 1;
  }
}

function readArguments(command: Command, rest: string[]): CommandArguments | string {
  try {
    const options = Object.fromEntries([
      ...command.flags.map((flag) => [flag, { type: 'boolean' as const }] as const),
      ...(command.options ?? []).map((name) => [name, { type: 'string' as const }] as const),
    ]);
    const { values, positionals } = parseArgs({
      args: withTheirValues(rest, options),
      options,
      allowPositionals: true,
    });
    const { min, max } =
      typeof command.arguments === 'number' ? { min: command.arguments, max: command.arguments } : command.arguments;
    if (positionals.length < min || positionals.length > max) return `It is: ${command.usage}`;
    const given = Object.entries(values);
    const texts = given.flatMap(([key, value]) => (typeof value === 'string' ? [[key, value] as const] : []));
    const flags = given.flatMap(([key, value]) => (value === true ? [key] : []));
    return { values: positionals, flags: new Set(flags), options: new Map(texts) };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Joins options with values that begin with a dash, as keys may. A following option name is not a value. */
function withTheirValues(typed: readonly string[], options: Readonly<Record<string, { type: string }>>): string[] {
  const isOption = (one: string, type: string) => one.startsWith('--') && options[one.slice(2)]?.type === type;
  const args: string[] = [];
  for (let index = 0; index < typed.length; index += 1) {
    const [one = '', next] = typed.slice(index);
    const isNamed = next !== undefined && (isOption(next, 'string') || isOption(next, 'boolean'));
    const hasValue = isOption(one, 'string') && next?.startsWith('-') === true && !isNamed;
    args.push(hasValue ? `${one}=${next}` : one);
    if (hasValue) index += 1;
  }
  return args;
}

function wrong({ complain }: CommandContext, reason: string): number {
  complain(`${reason}\n`);
  help(complain);
  return WRONG_USAGE;
}

function help(say: (line: string) => void): void {
  say('npx isolayer <command>, in the folder of the service; <command> --help says more\n');
  for (const { usage, summary } of [...Object.values(COMMANDS), { usage: 'help', summary: 'Show this' }]) {
    say(`  ${usage}\n      ${summary}`);
  }
}

function helpOf({ usage, summary, more = [] }: Command, say: (line: string) => void): void {
  say(`npx isolayer ${usage}\n\n${summary}`);
  for (const line of more) say(`\n  ${line}`);
}

function reasonsOf(error: unknown): string[] {
  if (error instanceof AggregateError) return error.errors.flatMap(reasonsOf);
  return [error instanceof Error ? error.message : String(error)];
}
