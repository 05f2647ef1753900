import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import type { Variables } from '../settings/secrets.ts';

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
export interface CommandArguments {
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
  arguments: number | { min: number; max: number };
  /** Resolves with the exit code: 0, or 1 when the command failed. */
  run(context: CommandContext, given: CommandArguments): Promise<number>;
}

/** The most characters read through a pipe. */
const MAX_PIPED = 65_536;

/** Opens the input of a command. Questions go to `output`, apart from the command's own output. */
export function openKeyboard(
  input: NodeJS.ReadableStream & Partial<Pick<ReadStream, 'isTTY'>>,
  output: Pick<WriteStream, 'write'>,
): Keyboard {
  return {
    isTerminal: input.isTTY === true,
    ask: (question) => askSilently(question, input, output),
    async piped() {
      let text = '';
      for await (const chunk of input.setEncoding('utf8')) {
        text += String(chunk);
        if (text.length > MAX_PIPED) throw new Error(`More than ${MAX_PIPED} characters on standard input`);
      }
      return text;
    },
  };
}

async function askSilently(
  question: string,
  input: NodeJS.ReadableStream,
  output: Pick<WriteStream, 'write'>,
): Promise<string> {
  // Hides the typed characters, which readline would show.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: true, historySize: 0 });
  output.write(question);
  try {
    return await new Promise((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('SIGINT', () => reject(new Error('Interrupted')));
      lines.once('close', () => reject(new Error('Nothing was typed')));
    });
  } finally {
    lines.close();
    output.write('\n');
  }
}
