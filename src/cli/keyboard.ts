import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { ReadStream, WriteStream } from 'node:tty';
import type { Keyboard } from './command.ts';

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
        if (text.length > MAX_PIPED) throw new Error(`More than ${MAX_PIPED} characters came through the pipe`);
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
