import type { Variables } from '../config/secrets.ts';

/** What a command works with. */
export interface CommandContext {
  env: Variables;
  cwd: string;
  /** Writes a line to the terminal. */
  say(line: string): void;
  /** Writes a line to standard error. */
  complain(line: string): void;
  /** The present moment, for names of files. */
  now(): Date;
  keyboard: Keyboard;
  /** Speaks to a running service. */
  request: typeof fetch;
}

/** What was typed behind the name of a command. */
export interface Given {
  values: readonly string[];
  flags: ReadonlySet<string>;
  options: ReadonlyMap<string, string>;
}

/** Where a command hears what must not be an argument, which others on the machine and the shell's history can see. */
export interface Keyboard {
  /** Whether somebody can be asked. */
  readonly isTerminal: boolean;
  /**
   * Asks for a line that is not shown while it is typed.
   * @throws when it was interrupted
   */
  ask(question: string): Promise<string>;
  /** All that comes through the pipe. */
  piped(): Promise<string>;
}

/** What was typed is none of a command's forms; the message says what they are. */
export class WrongUsage extends Error {}

/** One of the commands behind `npx isolayer <command>`. */
export interface Command {
  /** As typed, with its arguments: `backup <file>`. */
  usage: string;
  /** What it does, in one line. */
  summary: string;
  /** Flags without a value, without their dashes. */
  flags: readonly string[];
  /** Flags with a value: `--name value`. */
  options?: readonly string[];
  /** What its own help says besides. */
  more?: readonly string[];
  /** How many arguments it takes. */
  arguments: number | { least: number; most: number };
  /** Resolves with the exit code: 0, or 1 when it could not do what it was asked. */
  run(context: CommandContext, given: Given): Promise<number>;
}
