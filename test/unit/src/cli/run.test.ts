import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { openKeyboard } from '../../../../src/cli/command.ts';
import { runTyped } from '../../../support/command.ts';

t.test('help names every command', async (t) => {
  for (const typed of [['help'], ['--help'], ['-h']]) {
    const { code, said } = await runTyped(t.testdirName, typed);
    t.equal(code, 0);
    for (const name of ['check-config', 'backup <file>', 'restore [<file>]', 'schema']) t.match(said, name);
  }
});

t.test('wrong usage is 2, with what is wrong and the help', async (t) => {
  for (const [typed, reason] of [
    [[], /^Name a command/],
    [['bakcup'], /^There is no command "bakcup"\. Did you mean backup\?/],
    [['constructor'], /^There is no command "constructor"/],
    [['backup'], /^It is: backup <file>/],
    [['backup', 'a', 'b'], /^It is: backup <file>/],
    [['schema', '--force'], /^Unknown option '--force'/],
  ] as const) {
    const { code, said, complained } = await runTyped(t.testdirName, typed);
    t.equal(code, 2, typed.join(' '));
    t.equal(said, '');
    t.match(complained, reason);
    t.match(complained, 'npx isolayer <command>');
  }
});

t.test('the value of an option may begin with a dash, as a key does', async (t) => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers.authorization);
    response.writeHead(401).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const key of ['-one-key-of-random-characters', '--json-is-how-this-one-begins']) {
    t.equal((await runTyped(t.testdirName, ['whoami', '--url', url, '--key', key])).code, 1);
    t.equal(asked.pop(), `Bearer ${key}`);
  }
  const { code, complained } = await runTyped(t.testdirName, ['whoami', '--key', '--json']);
  t.equal(code, 2);
  t.match(complained, /'--key'/);
  t.strictSame(asked, []);
});

t.test('what goes wrong is a line, never a stack', async (t) => {
  const { code, complained } = await runTyped(t.testdir({}), ['backup', 'x.db'], { APP_PORT: 'http' });
  t.equal(code, 1);
  t.match(complained, /environment: APP_PORT: must be a whole number from 0 to 65535/);
  t.notMatch(complained, /\n\s+at /);
});

t.test('each command has its own help, and the whole has a version', async (t) => {
  for (const typed of [
    ['schema', '--help'],
    ['schema', '-h', '--page'],
    ['help', 'schema'],
  ]) {
    const { code, said } = await runTyped(t.testdirName, typed);
    t.equal(code, 0);
    t.match(said, /^npx isolayer schema \[--page\]\n\nWrite schema\.json/);
  }
  t.match(await runTyped(t.testdirName, ['--version']), { code: 0, said: /^\d+\.\d+\.\d+/ });
});

t.test('keyboard', async (t) => {
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
    const again = keyboard.ask('Repeat it: ');
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
});
