import { hashAuthorization, SigningKey, verifyAuthorization, Wallet } from 'ethers';
import t from 'tap';
import '../../../../../../src/domain/json/issue-text.ts';
import {
  authorityOf,
  authorizationFault,
  authorizationListSchema,
  rpcAuthorizationList,
  type StoredAuthorization,
  storedAuthorizationListSchema,
} from '../../../../../../src/chains/evm/form/authorization.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const CODE = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const wallet = new Wallet(`0x${'46'.repeat(32)}`);

/** A signed authorization in the form that a wallet gives to JSON-RPC. */
function authorization(chainId: bigint, nonce: bigint, key = wallet) {
  const { signature } = key.authorizeSync({ address: CODE, chainId, nonce });
  const { r, s, yParity } = signature;
  return { chainId: `0x${chainId.toString(16)}`, address: CODE, nonce: nonce.toString(), yParity, r, s };
}

const parsed = (entry: unknown): StoredAuthorization => {
  const [stored] = authorizationListSchema.parse([entry]);
  if (stored === undefined) throw new Error('one in, one out');
  return stored;
};

t.test('the authority is found as ethers finds it, whatever was signed', async (t) => {
  const secret = fc.bigInt({ min: 1n, max: ORDER - 1n }).map((value) => `0x${value.toString(16).padStart(64, '0')}`);
  const uint = (bits: bigint) => fc.bigInt({ min: 0n, max: (1n << bits) - 2n });
  const property = fc.property(secret, uint(256n), uint(64n), (key, chainId, nonce) => {
    const given = authorization(chainId, nonce, new Wallet(key));
    const oracle = verifyAuthorization(
      { address: CODE, chainId, nonce },
      { r: given.r, s: given.s, yParity: given.yParity },
    );
    return authorityOf(parsed(given)) === oracle.toLowerCase();
  });
  fc.assert(property, { numRuns: runsOf(50) });
  t.equal(authorityOf(parsed(authorization(1n, 2n))), wallet.address.toLowerCase());
});

t.test('every spelling becomes one, with each word at its full length', async (t) => {
  const given = authorization(31_337n, 7n);
  const stored = parsed(given);
  t.match(stored, { chain_id: 31_337, address: CODE.toLowerCase(), nonce: 7, y_parity: given.yParity });
  const { chainId, yParity, ...rest } = given;
  const snake = { ...rest, chain_id: BigInt(chainId).toString(), y_parity: String(yParity) };
  t.same(parsed({ ...snake, r: BigInt(given.r).toString() }), stored);
  t.same(
    parsed({ ...snake, chainId, yParity, v: 27 + yParity }),
    stored,
    'as libraries have it that write all of them',
  );
  t.same(storedAuthorizationListSchema.parse([stored]), [stored]);
  t.match(stored.r, /^0x[0-9a-f]{64}$/);
  t.same(rpcAuthorizationList([stored]), [
    {
      chainId: '0x7a69',
      address: CODE.toLowerCase(),
      nonce: '0x7',
      yParity: `0x${given.yParity}`,
      r: `0x${BigInt(given.r).toString(16)}`,
      s: `0x${BigInt(given.s).toString(16)}`,
    },
  ]);
});

t.test('what the protocol would pass over is refused', async (t) => {
  const good = authorization(1n, 0n);
  const { chainId: _, ...noChain } = good;
  const { yParity: __, ...noParity } = good;
  const highS = `0x${(ORDER - BigInt(good.s)).toString(16)}`;
  for (const [list, path, said] of [
    [[], '', /at least one/],
    [Array.from({ length: 17 }, () => good), '', /at most 16 entries/],
    [[noChain], '0.chain_id', /missing/],
    [[noParity], '0.y_parity', /missing/],
    [[{ ...good, yParity: 27 }], '0.yParity', /0 or 1/],
    [[{ ...good, v: 28 - good.yParity }], '0.v', /27 more than y_parity/],
    [[{ ...good, y_parity: 1 - good.yParity }], '0.yParity', /y_parity is another one/],
    [[{ ...good, chain_id: 0 }], '0.chainId', /chain_id is another one/],
    [[{ ...good, chainID: 5 }], '0', /unknown field/],
    [[{ ...good, s: highS }], '0.s', /lower half/],
    [[{ ...good, r: `0x${ORDER.toString(16)}` }], '0.r', /below the order/],
    [[{ ...good, nonce: '18446744073709551615' }], '0.nonce', /below 2\^64 - 1/],
    [[{ ...good, address: '0x' }], '0.address', /20 bytes/],
  ] as const) {
    const { error } = authorizationListSchema.safeParse(list);
    t.equal(error?.issues[0]?.path.join('.'), path, said.source);
    t.match(error?.issues[0]?.message, said);
  }
});

t.test('a list is for the chain that it is sent on, or for any', async (t) => {
  const list = [parsed(authorization(0n, 0n)), parsed(authorization(5n, 0n))];
  t.equal(authorizationFault(list, 5n, 'eip1559'), undefined);
  t.equal(authorizationFault(list, undefined, 'eip1559'), undefined);
  t.equal(
    authorizationFault(list, 6n, 'eip1559'),
    'authorization_list.1 is for chain 5, and the relayer sends on chain 6',
  );
  t.equal(authorizationFault(list, 5n, 'legacy'), 'authorization_list requires EIP1559 parameters');
  t.equal(authorizationFault([], 5n, 'legacy'), undefined);
});

t.test('the signature of another content leads to another authority', async (t) => {
  const stored = parsed(authorization(1n, 0n));
  const digest = hashAuthorization({ address: CODE, chainId: 1n, nonce: 0n });
  t.equal(
    SigningKey.recoverPublicKey(digest, { r: stored.r, s: stored.s, yParity: stored.y_parity === 1 ? 1 : 0 }),
    wallet.signingKey.publicKey,
  );
  t.not(authorityOf({ ...stored, nonce: 1 }), wallet.address.toLowerCase());
  for (const r of [0, 5]) t.equal(authorityOf(parsed({ ...authorization(1n, 0n), r })), undefined, 'of no key at all');
});
