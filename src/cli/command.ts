import type { Variables } from '../config/secrets.ts';

/** The environment of a command. */
export interface CommandContext {
  env: Variables;
  cwd: string;
  /** Writes a line to the terminal. */
  say(line: string): void;
  /** Writes a line to standard error. */
  complain(line: string): void;
  /** The current time, for file names. */
  now(): Date;
  keyboard: Keyboard;
  /** Sends requests to a running service. */
  request: typeof fetch;
}

/** The arguments of a command. */
export interface Given {
  values: readonly string[];
  flags: ReadonlySet<string>;
  options: ReadonlyMap<string, string>;
}

/**
 * Input for secrets. They must not be arguments, because other users of the machine and the shell's history can see
 * those.
 */
export interface Keyboard {
  /** Whether a user can be asked. */
  readonly isTerminal: boolean;
  /**
   * Asks for a line that is not shown while it is typed.
   * @throws when it was interrupted
   */
  ask(question: string): Promise<string>;
  /** Reads all piped input. */
  piped(): Promise<string>;
}

/** The arguments match no form of the command. The message lists the forms. */
export class WrongUsage extends Error {}

/** One of the commands behind `npx isolayer <command>`. */
export interface Command {
  /** The command with its arguments, as typed: `backup <file>`. */
  usage: string;
  /** What it does, in one line. */
  summary: string;
  /** Flags without a value, without their dashes. */
  flags: readonly string[];
  /** Flags with a value: `--name value`. */
  options?: readonly string[];
  /** Further lines of its own help. */
  more?: readonly string[];
  /** How many arguments it takes. */
  arguments: number | { least: number; most: number };
  /** Resolves with the exit code: 0, or 1 when the command failed. */
  run(context: CommandContext, given: Given): Promise<number>;
}
