import { generateKeyPairSync } from 'node:crypto';
import t from 'tap';
import { cdpAuthorization } from '../../../../../src/signers/cdp/signed-headers.ts';
import { CdpDouble } from '../../../../support/signers/cdp-double.ts';
import { readJwt } from '../../../../support/signers/jwt.ts';

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
