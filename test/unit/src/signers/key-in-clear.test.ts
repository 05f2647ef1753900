import { generateKeyPairSync } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import { encryptKeystoreJsonSync, Wallet } from 'ethers';
import t from 'tap';
import { keyInClear } from '../../../../src/signers/key-in-clear.ts';

t.test('the forms that keys are kept in are called by their names', (t) => {
  const { privateKey, mnemonic } = Wallet.createRandom();
  const pair = [...Keypair.generate().secretKey];
  const pem = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey.export({ format: 'pem', type: 'sec1' });
  for (const [text, name] of [
    [privateKey, 'a private key in clear'],
    [privateKey.slice(2), 'a private key in clear'],
    [`"${privateKey}"\n`, 'a private key in clear'],
    [`S${'A'.repeat(55)}`, 'a Stellar secret seed in clear'],
    [JSON.stringify(pair), 'a Solana key pair in clear'],
    [`${JSON.stringify(pair, null, 2)}\n`, 'a Solana key pair in clear'],
    ['5'.repeat(88), 'a Solana key pair in clear'],
    [pem.toString(), 'a private key in PEM'],
    [mnemonic?.phrase ?? '', 'a phrase of words in clear'],
  ] as const) {
    t.equal(keyInClear(text), name);
  }
  t.end();
});

t.test('what is none is nothing', (t) => {
  const { address, privateKey } = Wallet.createRandom();
  const scrypt = { N: 2, r: 1, p: 1 };
  const keystore = encryptKeystoreJsonSync({ address, privateKey }, 'a', { scrypt });
  for (const text of ['', '{}', '[]', '[1,2,3]', keystore, privateKey.slice(0, -1), 'hello world', '{"key":"a"}']) {
    t.equal(keyInClear(text), undefined, text);
  }
  t.end();
});
