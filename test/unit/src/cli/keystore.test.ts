import { chmodSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { encryptKeystoreJson, Wallet } from 'ethers';
import t from 'tap';
import { openKeystoreFile } from '../../../../src/signers/keystore.ts';
import { pipeWith, runTyped, terminalWith } from '../../../support/command.ts';

const PASSPHRASE = 'correct horse battery';
const FILE = 'config/keys/one.json';
const env = { KEYSTORE_PASSPHRASE: PASSPHRASE };

/**
 * Opens a keystore file as the service does. Other programs can open one too; the test of keystore creation shows that
 * with a light scrypt.
 */
async function keyIn(file: string, passphrase: string): Promise<string> {
  return `0x${Buffer.from(await openKeystoreFile(file, Buffer.from(passphrase))).toString('hex')}`;
}

t.test('a new key: for its owner alone, never over another, with the addresses that a relayer has', async (t) => {
  const cwd = t.testdir({});
  const keyboard = terminalWith(PASSPHRASE, PASSPHRASE);
  const { code, said } = await runTyped(cwd, ['keystore', 'new', FILE], {}, keyboard);
  t.equal(code, 0);
  t.strictSame(keyboard.asked, ['Passphrase: ', 'Repeat it: ']);
  t.equal(statSync(join(cwd, FILE)).mode & 0o777, 0o600);
  t.equal(statSync(join(cwd, 'config', 'keys')).mode & 0o777, 0o700);
  const text = readFileSync(join(cwd, FILE), 'utf8');
  const privateKey = await keyIn(join(cwd, FILE), PASSPHRASE);
  const { address } = new Wallet(privateKey);
  t.match(said, `evm      ${address.toLowerCase()}\n`);
  t.match(said, /solana {3}[1-9A-HJ-NP-Za-km-z]{32,44}\nstellar {2}G[A-Z2-7]{55}\n/);
  t.notMatch(said, privateKey.slice(2));
  t.notMatch(said, PASSPHRASE);

  for (const action of ['new', 'import']) {
    const again = await runTyped(cwd, ['keystore', action, FILE], env, pipeWith(privateKey));
    t.match(again, { code: 1, complained: /exists; a keystore is never overwritten/ });
  }
  t.equal(readFileSync(join(cwd, FILE), 'utf8'), text);

  const shown = await runTyped(cwd, ['keystore', 'address', FILE], env);
  t.match(shown, { code: 0, said: said.slice(said.indexOf('evm'), said.indexOf('\nKeep')) });
});

t.test('a key that there is: piped in or typed, and nothing but a key', async (t) => {
  const cwd = t.testdir({ '.env': `KEYSTORE_PASSPHRASE='${PASSPHRASE}'\n` });
  const { address, privateKey } = Wallet.createRandom();
  const imported = await runTyped(cwd, ['keystore', 'import', 'a.json'], {}, pipeWith(`${privateKey}\n`));
  t.match(imported, { code: 0, said: address.toLowerCase() });
  const typed = await runTyped(cwd, ['keystore', 'import', 'b.json'], {}, terminalWith(privateKey.slice(2)));
  t.match(typed, { code: 0, said: address.toLowerCase() });
  t.equal(await keyIn(join(cwd, 'a.json'), PASSPHRASE), privateKey);
  for (const [given, reason] of [
    [privateKey.slice(0, -1), /64 hexadecimal digits/],
    ['', /64 hexadecimal digits/],
    ['0'.repeat(64), /not a private key/],
    ['f'.repeat(64), /not a private key/],
  ] as const) {
    const { code, complained } = await runTyped(cwd, ['keystore', 'import', 'c.json'], {}, pipeWith(given));
    t.equal(code, 1);
    t.match(complained, reason);
  }
});

t.test('a passphrase that is missing, short or mistyped writes nothing', async (t) => {
  const cwd = t.testdir({});
  const make = ['keystore', 'new', 'x.json'];
  t.match(await runTyped(cwd, make), { code: 1, complained: /set KEYSTORE_PASSPHRASE, or run it in a terminal/ });
  t.match(await runTyped(cwd, make, {}, terminalWith('short')), { code: 1, complained: /fewer than 8/ });
  const mistyped = terminalWith(PASSPHRASE, `${PASSPHRASE}.`);
  t.match(await runTyped(cwd, make, {}, mistyped), { code: 1, complained: /The passphrases differ/ });
  t.throws(() => statSync(join(cwd, 'x.json')));
  t.match(await runTyped(cwd, ['keystore', 'show', 'x.json'], env), {
    code: 1,
    complained: /Say keystore new, import, /,
  });
  t.match(await runTyped(cwd, ['keystore', 'address', 'x.json'], env), { code: 1, complained: /no keystore at/ });
});

t.test('another passphrase: the key and its id stay, and the cost is that of today', async (t) => {
  const { address, privateKey } = Wallet.createRandom();
  const weak = await encryptKeystoreJson({ address, privateKey }, PASSPHRASE, { scrypt: { N: 1024, r: 8, p: 1 } });
  const cwd = t.testdir({ keys: { 'a.json': weak }, 'a.json': t.fixture('symlink', 'keys/a.json') });
  const file = join(cwd, 'keys', 'a.json');
  chmodSync(file, 0o640);
  const before = await runTyped(cwd, ['keystore', 'inspect', 'a.json']);
  t.match(before, {
    code: 0,
    said: /scrypt, N 1024, r 8, p 1 \(1 MiB\)\nmode {5}0640\nIts passphrase is cheaper.*\nOthers on this/s,
  });

  const changed = await runTyped(cwd, ['keystore', 'passphrase', 'a.json'], {
    ...env,
    KEYSTORE_NEW_PASSPHRASE: 'another one',
  });
  t.match(changed, { code: 0, said: /has another passphrase/ });
  const text = readFileSync(file, 'utf8');
  t.equal(await keyIn(file, 'another one'), privateKey);
  t.equal((JSON.parse(text) as { id: string }).id, (JSON.parse(weak) as { id: string }).id);
  t.equal(statSync(file).mode & 0o777, 0o640, 'who could read it still can');
  t.equal(readlinkSync(join(cwd, 'a.json')), 'keys/a.json', 'a link stays one');
  t.strictSame([readdirSync(cwd), readdirSync(join(cwd, 'keys'))], [['a.json', 'keys'], ['a.json']]);
  chmodSync(file, 0o600);
  const after = await runTyped(cwd, ['keystore', 'inspect', 'a.json']);
  t.match(after, { code: 0, said: /N 131072, r 8, p 1 \(128 MiB\)\nmode {5}0600$/ });
});

t.test('a passphrase that is wrong, short or mistyped changes nothing', async (t) => {
  const { address, privateKey } = Wallet.createRandom();
  const text = await encryptKeystoreJson({ address, privateKey }, PASSPHRASE, { scrypt: { N: 1024, r: 8, p: 1 } });
  const cwd = t.testdir({ 'a.json': text, 'raw.json': privateKey });
  const change = ['keystore', 'passphrase', 'a.json'];
  for (const [answers, said] of [
    [['wrong passphrase'], /does not open keystore/],
    [[PASSPHRASE, 'short'], /fewer than 8/],
    [[PASSPHRASE, 'another one', 'another'], /The passphrases differ/],
  ] as const) {
    t.match(await runTyped(cwd, change, {}, terminalWith(...answers)), { code: 1, complained: said });
  }
  t.equal(readFileSync(join(cwd, 'a.json'), 'utf8'), text);
  const raw = await runTyped(cwd, ['keystore', 'inspect', 'raw.json']);
  t.match(raw, { code: 1, complained: /raw\.json is no keystore: it is a private key in clear; put the key under/ });
  t.notMatch(raw.complained, privateKey.slice(2, 20));
});

t.test('a key in place of the file is not taken for one, and not shown', async (t) => {
  const cwd = t.testdir({});
  const { privateKey } = Wallet.createRandom();
  for (const action of ['new', 'import', 'address', 'inspect', 'passphrase']) {
    const { code, said, complained } = await runTyped(cwd, ['keystore', action, privateKey], env);
    t.match({ code, complained }, { code: 1, complained: /a private key in clear/ });
    t.notMatch(said + complained, privateKey.slice(2));
  }
  t.strictSame(readdirSync(cwd), []);
});
