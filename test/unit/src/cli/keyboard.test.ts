import { PassThrough } from 'node:stream';
import t from 'tap';
import { openKeyboard } from '../../../../src/cli/keyboard.ts';

function screen() {
  let shown = '';
  const write = (text: string) => {
    shown += text;
    return true;
  };
  return { output: { write }, shown: () => shown };
}

t.test('what is typed is not shown', async (t) => {
  const [input, { output, shown }] = [Object.assign(new PassThrough(), { isTTY: true as const }), screen()];
  const keyboard = openKeyboard(input, output);
  t.ok(keyboard.isTerminal);
  const answer = keyboard.ask('Passphrase: ');
  for (const key of ['sec', 'x', '\u007f', 'ret\r']) input.write(key);
  t.equal(await answer, 'secret');
  t.equal(shown(), 'Passphrase: \n');
  const again = keyboard.ask('Once more: ');
  input.write('secret\r');
  t.equal(await again, 'secret', 'one question after the other');
});

t.test('an interruption and the end are no answers', async (t) => {
  const input = Object.assign(new PassThrough(), { isTTY: true as const });
  const keyboard = openKeyboard(input, screen().output);
  const interrupted = keyboard.ask('Passphrase: ');
  input.write('half\u0003');
  await t.rejects(interrupted, { message: 'Interrupted' });
  const ended = keyboard.ask('Passphrase: ');
  input.end();
  await t.rejects(ended, { message: 'Nothing was typed' });
});

t.test('a pipe is read to its end, and not without one', async (t) => {
  const input = new PassThrough();
  const keyboard = openKeyboard(input, screen().output);
  t.notOk(keyboard.isTerminal);
  input.write('ab');
  input.end('c\n');
  t.equal(await keyboard.piped(), 'abc\n');
  const long = new PassThrough();
  long.end('x'.repeat(70_000));
  await t.rejects(openKeyboard(long, screen().output).piped(), /More than 65536/);
});
