import { generateKeyPairSync, randomBytes, verify } from 'node:crypto';
import { Keypair, PublicKey, SystemProgram, Transaction, VersionedTransaction } from '@solana/web3.js';
import t, { type Test } from 'tap';
import { createSignerHttp } from '../../../../src/egress/signer-http.ts';
import { cdpAuthorization, cdpSignerKind, signatureIn, unsignedTransaction } from '../../../../src/signers/cdp.ts';
import type { Curve } from '../../../../src/signers/signer.ts';
import { signerTools } from '../../../support/signer-tools.ts';
import { CdpDouble, startCdp } from '../../../support/signers/cdp-double.ts';
import { readJwt } from '../../../support/signers/jwt.ts';
import { newServiceKey } from '../../../support/signers/service-key.ts';
import { solanaMessage } from '../../../support/signers/signer-families.ts';

t.test('server account', async (t) => {
  const { configSchema } = cdpSignerKind;

  async function scene(t: Test, curve: Curve, api?: 'p256') {
    const double = await startCdp(curve, api);
    const http = createSignerHttp();
    t.teardown(async () => {
      await http.close();
      await double.service.stop();
    });
    const tools = signerTools('', { http, secrets: ({ value }) => value });
    const open = (change: object = {}) =>
      cdpSignerKind.create('one', configSchema.parse({ ...double.config, ...change }), tools);
    return { ...double, open };
  }

  t.test('the key of an EVM account is found out once, whatever the letters of its address', async (t) => {
    const { cdp, publicKey, open } = await scene(t, 'secp256k1', 'p256');
    const signer = await open();
    t.same(await signer.publicKey('secp256k1'), publicKey);
    for (const digest of [randomBytes(32), randomBytes(32)])
      t.equal((await signer.sign('secp256k1', digest)).length, 65);
    t.equal(cdp.service.asked.length, 3);
    await t.rejects(signer.publicKey('ed25519'), {
      message: 'its account is on secp256k1, and is asked to sign on ed25519',
    });
    cdp.key = newServiceKey('secp256k1');
    await t.rejects((await open()).publicKey('secp256k1'), { message: /made by another key than that of 0x/ });
  });

  t.test('a Solana account signs transactions and texts, and no other bytes', async (t) => {
    const { cdp, publicKey, payload, open } = await scene(t, 'ed25519');
    const signer = await open();
    t.same(await signer.publicKey('ed25519'), publicKey);
    t.equal((await signer.sign('ed25519', payload?.(publicKey) ?? Buffer.alloc(0))).length, 64);
    await t.rejects(signer.sign('ed25519', Buffer.from('a text')), {
      message: /signs transactions of Solana and texts, and no other bytes/,
    });
    t.equal(cdp.service.asked.length, 1);
    const text = 'Isolayer logs in: "ä"\n';
    const signature = (await signer.signText?.(text)) ?? Buffer.alloc(0);
    t.ok(verify(null, Buffer.from(text), cdp.key.spki, signature));
    t.strictSame(cdp.service.asked.at(-1)?.json, { message: text });
    cdp.key = newServiceKey('ed25519');
    await t.rejects(async () => signer.signText?.(text), { message: /made by another key/ });
    t.equal((await (await scene(t, 'secp256k1')).open()).signText, undefined, 'an EVM account has a form of its own');
  });

  t.test('what the service says is passed on', async (t) => {
    const { cdp, open } = await scene(t, 'secp256k1');
    const stranger = await open({ api_key_id: 'another' });
    await t.rejects(stranger.publicKey('secp256k1'), {
      message: /^CDP at 127\.0\.0\.1:\d+ answered 401: The request is not properly authenticated: key$/,
    });
    cdp.isAllowed = false;
    await t.rejects((await open()).publicKey('secp256k1'), {
      message: /answered 403: The request was rejected by a policy\.$/,
    });
  });

  t.test('the entry of the reference, and no more', (t) => {
    const secret = { type: 'env', value: 'X' };
    const entry = { api_key_id: 'k', api_key_secret: secret, wallet_secret: secret };
    const isGood = (account_address: string) => configSchema.safeParse({ ...entry, account_address }).success;
    t.ok(isGood(`0x${'aB'.repeat(20)}`));
    t.ok(isGood('11111111111111111111111111111111'));
    for (const bad of ['', '0x', `0x${'ab'.repeat(19)}`, 'ab'.repeat(20), '1'.repeat(31)]) t.notOk(isGood(bad), bad);
    t.notOk(configSchema.safeParse({ ...entry, account_address: `0x${'ab'.repeat(20)}`, x: 1 }).success);
    t.end();
  });
});

t.test('signed headers', async (t) => {
  const url = new URL('https://api.cdp.coinbase.com/platform/v2/evm/accounts/0xab/sign?x=1');
  const uris = ['POST api.cdp.coinbase.com/platform/v2/evm/accounts/0xab/sign'];

  t.test('each request has tokens of its own, for its address and its body', (t) => {
    const double = new CdpDouble('secp256k1');
    const { apiKeyId, apiKeySecret, walletSecret } = double;
    const authorize = cdpAuthorization({ apiKeyId, apiKeySecret, walletSecret }, { now: () => Date.now() });
    const [one, other] = [authorize(url, '{}'), authorize(url, '{"a":1}')];
    const read = ({ authorization = '', 'x-wallet-auth': wallet = '' }: Record<string, string>) => ({
      bearer: readJwt(authorization.replace('Bearer ', ''), 'EdDSA', double.apiKey.publicKey, 120),
      use: readJwt(wallet, 'ES256', double.wallet.publicKey, 120),
    });
    t.match(read(one).bearer, {
      header: { kid: apiKeyId },
      claims: { sub: apiKeyId, iss: 'cdp', uris },
    });
    t.match(read(one).use.claims, {
      uris,
      reqHash: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    });
    t.not(read(one).use.claims['reqHash'], read(other).use.claims['reqHash']);
    t.not(read(one).use.claims['jti'], read(other).use.claims['jti']);
    t.not(read(one).bearer.header['nonce'], read(other).bearer.header['nonce']);
    t.end();
  });

  t.test('an older API key, in PEM, with its line breaks as they are or as \\n', (t) => {
    const double = new CdpDouble('secp256k1', 'p256');
    const { apiKeyId, apiKeySecret, walletSecret } = double;
    for (const secret of [apiKeySecret, apiKeySecret.replaceAll('\n', '\\n')]) {
      const authorize = cdpAuthorization({ apiKeyId, apiKeySecret: secret, walletSecret }, { now: () => Date.now() });
      const { authorization = '' } = authorize(url, '{}');
      t.ok(readJwt(authorization.replace('Bearer ', ''), 'ES256', double.apiKey.publicKey, 120));
    }
    t.end();
  });

  t.test('what is no credential says which', (t) => {
    const { apiKeyId, apiKeySecret, walletSecret } = new CdpDouble('secp256k1');
    const clock = { now: () => 0 };
    const secp = generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey;
    const pem = secp.export({ format: 'pem', type: 'pkcs8' }).toString();
    const der = secp.export({ format: 'der', type: 'pkcs8' }).toString('base64');
    for (const bad of ['', 'x', 'AAAA', pem]) {
      t.throws(() => cdpAuthorization({ apiKeyId, apiKeySecret: bad, walletSecret }, clock), {
        message: /^api_key_secret is/,
      });
    }
    for (const bad of ['', 'x', der]) {
      t.throws(() => cdpAuthorization({ apiKeyId, apiKeySecret, walletSecret: bad }, clock), {
        message: /^wallet_secret is/,
      });
    }
    t.end();
  });
});

t.test('solana transaction', async (t) => {
  const account = Keypair.generate();
  const own = account.publicKey.toBuffer();

  t.test('a message of version 0, or of none, and the place of the account among those who sign it', (t) => {
    const versioned = unsignedTransaction(solanaMessage(own), own);
    t.equal(versioned.place, 0);
    const read = VersionedTransaction.deserialize(versioned.transaction);
    t.equal(read.version, 0);
    read.sign([account]);
    t.same(signatureIn(Buffer.from(read.serialize()), 0), Buffer.from(read.signatures[0] ?? []));

    const payer = Keypair.generate();
    const legacy = new Transaction({
      feePayer: payer.publicKey,
      recentBlockhash: new PublicKey(randomBytes(32)).toBase58(),
    });
    legacy.add(SystemProgram.transfer({ fromPubkey: account.publicKey, toPubkey: payer.publicKey, lamports: 1 }));
    const { transaction, place } = unsignedTransaction(legacy.serializeMessage(), own);
    t.equal(place, 1);
    const other = VersionedTransaction.deserialize(transaction);
    t.equal(other.version, 'legacy');
    other.sign([account]);
    t.same(signatureIn(Buffer.from(other.serialize()), 1), Buffer.from(other.signatures[1] ?? []));
    t.same(signatureIn(Buffer.from(other.serialize()), 2), Buffer.alloc(0));
    t.end();
  });

  t.test('what is no message, or of another version, or signed by others, is refused', (t) => {
    const nothing = { message: 'CDP signs transactions of Solana and texts, and no other bytes' };
    const text = Buffer.from('\xffsolana offchain', 'latin1');
    const one = solanaMessage(own);
    const next = Buffer.from(one);
    next[0] = 0x81;
    const nobody = Buffer.from(one);
    nobody[1] = 0;
    for (const bytes of [
      Buffer.alloc(0),
      text,
      next,
      nobody,
      one.subarray(0, 40),
      Buffer.from([1, 0, 0, 0xff, 0xff, 0xff]),
    ]) {
      t.throws(() => unsignedTransaction(bytes, own), nothing);
    }
    t.throws(() => unsignedTransaction(one, randomBytes(32)), {
      message: 'the transaction is not one that this account signs',
    });
    t.end();
  });

  t.test('counts above 127 take two bytes', (t) => {
    const keys = Buffer.concat([randomBytes(32 * 199), own]);
    const message = Buffer.concat([Buffer.from([0x80, 200, 0, 0, 0xc8, 0x01]), keys]);
    const { transaction, place } = unsignedTransaction(message, own);
    t.equal(place, 199);
    t.equal(transaction.length, 2 + 200 * 64 + message.length);
    transaction.fill(7, 2 + 199 * 64, 2 + 200 * 64);
    t.same(signatureIn(transaction, 199), Buffer.alloc(64, 7));
    t.end();
  });
});
