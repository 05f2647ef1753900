import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { decryptKeystoreJson, Wallet } from 'ethers';
import t from 'tap';
import { pipeWith, runTyped, terminalWith } from '../../../support/command.ts';

const PASSPHRASE = 'correct horse battery';
const FILE = 'config/keys/one.json';
const env = { KEYSTORE_PASSPHRASE: PASSPHRASE };

t.test('a new key: for its owner alone, never over another, with the addresses that a relayer has', async (t) => {
  const cwd = t.testdir({});
  const keyboard = terminalWith(PASSPHRASE, PASSPHRASE);
  const { code, said } = await runTyped(cwd, ['keystore', 'new', FILE], {}, keyboard);
  t.equal(code, 0);
  t.strictSame(keyboard.asked, ['Passphrase: ', 'Once more: ']);
  t.equal(statSync(join(cwd, FILE)).mode & 0o777, 0o600);
  t.equal(statSync(join(cwd, 'config', 'keys')).mode & 0o777, 0o700);
  const text = readFileSync(join(cwd, FILE), 'utf8');
  const { address, privateKey } = await decryptKeystoreJson(text, PASSPHRASE);
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
  const wrong = await runTyped(cwd, ['keystore', 'address', FILE], {}, terminalWith('wrong'));
  t.match(wrong, { code: 1, complained: /the passphrase does not open keystore/ });
});

t.test('a key that there is: piped in or typed, and nothing but a key', async (t) => {
  const cwd = t.testdir({ '.env': `KEYSTORE_PASSPHRASE='${PASSPHRASE}'\n` });
  const { address, privateKey } = Wallet.createRandom();
  const imported = await runTyped(cwd, ['keystore', 'import', 'a.json'], {}, pipeWith(`${privateKey}\n`));
  t.match(imported, { code: 0, said: address.toLowerCase() });
  const typed = await runTyped(cwd, ['keystore', 'import', 'b.json'], {}, terminalWith(privateKey.slice(2)));
  t.match(typed, { code: 0, said: address.toLowerCase() });
  for (const name of ['a.json', 'b.json']) {
    const { privateKey: kept } = await decryptKeystoreJson(readFileSync(join(cwd, name), 'utf8'), PASSPHRASE);
    t.equal(kept, privateKey);
  }
  for (const [given, reason] of [
    [privateKey.slice(0, -1), /64 hexadecimal digits/],
    ['', /64 hexadecimal digits/],
    ['0'.repeat(64), /no private key/],
    ['f'.repeat(64), /no private key/],
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
  t.match(await runTyped(cwd, make, {}, mistyped), { code: 1, complained: /two different passphrases/ });
  t.throws(() => statSync(join(cwd, 'x.json')));
  t.match(await runTyped(cwd, ['keystore', 'show', 'x.json'], env), { code: 1, complained: /Say keystore new/ });
  t.match(await runTyped(cwd, ['keystore', 'address', 'x.json'], env), { code: 1, complained: /no keystore at/ });
});
