import '../../../../../src/domain/json/issue-text.ts';
import { hashAuthorization, Interface, SigningKey, verifyAuthorization, Wallet } from 'ethers';
import { encodeRlp as oracle } from 'ethers/utils';
import t from 'tap';
import {
  accessListSchema,
  rlpAccessList,
  rpcAccessList,
  storedAccessListSchema,
} from '../../../../../src/chains/evm/form/access-list.ts';
import {
  authorityOf,
  authorizationFault,
  authorizationListSchema,
  rpcAuthorizationList,
  type StoredAuthorization,
  storedAuthorizationListSchema,
} from '../../../../../src/chains/evm/form/authorization.ts';
import { errorAbiSchema } from '../../../../../src/chains/evm/form/error-abi.ts';
import { integerUpTo, readInteger } from '../../../../../src/chains/evm/form/integer.ts';
import { encodeRlp, type RlpItem, rlpInteger } from '../../../../../src/chains/evm/form/rlp.ts';
import { fc, runsOf } from '../../../../support/properties.ts';

t.test('access list', async (t) => {
  const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const KEY = `0x${'0A'.repeat(32)}`;

  t.test('both spellings of the keys become one', async (t) => {
    const stored = [{ address: ADDRESS.toLowerCase(), storage_keys: [KEY.toLowerCase()] }];
    t.same(accessListSchema.parse([{ address: ADDRESS, storage_keys: [KEY] }]), stored);
    t.same(accessListSchema.parse([{ address: ADDRESS, storageKeys: [KEY.slice(2)] }]), stored);
    t.same(accessListSchema.parse([{ address: ADDRESS }]), [{ address: ADDRESS.toLowerCase(), storage_keys: [] }]);
    t.same(storedAccessListSchema.parse(stored), stored);
    t.same(rpcAccessList(stored), [{ address: ADDRESS.toLowerCase(), storageKeys: [KEY.toLowerCase()] }]);
    t.same(rlpAccessList(stored), [[ADDRESS.toLowerCase(), [KEY.toLowerCase()]]]);
  });

  t.test('what is no access list', async (t) => {
    for (const [list, path, said] of [
      [{}, '', /expected a list/],
      [[{ storage_keys: [] }], '0.address', /expected a string/],
      [[{ address: '0x12' }], '0.address', /20 bytes/],
      [[{ address: ADDRESS, storage_keys: ['0x1'] }], '0.storage_keys.0', /32 bytes/],
      [[{ address: ADDRESS, storage_keys: [KEY], storageKeys: [] }], '0', /not both/],
      [[{ address: ADDRESS, storageKey: [KEY] }], '0', /unknown field/],
      [[{ address: ADDRESS, storageKeys: 'x' }], '0.storageKeys', /expected a list/],
      [Array.from({ length: 4_097 }, () => ({ address: ADDRESS })), '', /at most 4096 entries/],
    ] as const) {
      const [issue] = accessListSchema.safeParse(list).error?.issues ?? [];
      t.equal(issue?.path.join('.'), path);
      t.match(issue?.message, said);
    }
  });
});

t.test('authorization', async (t) => {
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
    for (const r of [0, 5])
      t.equal(authorityOf(parsed({ ...authorization(1n, 0n), r })), undefined, 'of no key at all');
  });
});

t.test('error abi', async (t) => {
  const TUPLE = {
    type: 'error',
    name: 'Denied',
    inputs: [{ type: 'tuple', name: 'who', components: [{ type: 'address', name: 'account' }] }],
  };

  t.test('of an ABI only the errors are kept, in one form', async (t) => {
    const kept = errorAbiSchema.parse([
      'function transfer(address, uint256)',
      { type: 'function', name: 'x', inputs: [] },
      ' error TooMuch(uint256 most)',
      TUPLE,
      'nonsense that nobody asked for',
    ]);
    t.same(kept, ['error TooMuch(uint256 most)', 'error Denied((address account) who)']);
    const abi = new Interface(kept);
    const data = abi.encodeErrorResult('TooMuch', [5]);
    t.equal(abi.parseError(data)?.args['most'], 5n, 'ethers reads the kept form');
    t.same(errorAbiSchema.parse(kept), kept, 'and so does the schema');
  });

  t.test('what is no ABI', async (t) => {
    for (const [abi, said] of [
      ['error X()', /expected a list of ABI entries/],
      [[5], /expected an ABI entry/],
      [['error X(nothing)'], /expected errors as JSON ABI entries/],
      [[{ type: 'error' }], /expected errors as JSON ABI entries/],
      [['function f()'.padEnd(65_536)], /at most 65536 characters/],
      [
        Array.from({ length: 1_000 }, (_, index) => `error TooMuchOf${index}(uint256 first)`),
        /at most 32768 characters/,
      ],
    ] as const) {
      t.match(errorAbiSchema.safeParse(abi).error?.issues[0]?.message, said);
    }
  });

  t.test('what would take long to parse is refused before', async (t) => {
    const tuples = (depth: number) => `error X(${'('.repeat(depth)}uint256${')'.repeat(depth)} x)`;
    const components = (depth: number) => {
      let input: object = { type: 'uint256', name: 'x' };
      for (let level = 0; level < depth; level += 1) input = { type: 'tuple', name: '', components: [input] };
      return { type: 'error', name: 'X', inputs: [input] };
    };
    const kept = errorAbiSchema.parse([tuples(8), components(8), `error X(uint256${'[]'.repeat(8)} x)`]);
    t.equal(kept[0], tuples(8));
    t.equal(kept.length, 3);
    const nested = /at most 4096 characters that nest at most 8 deep/;
    for (const [abi, said] of [
      [[tuples(9)], nested],
      [[tuples(7_000)], nested],
      [[components(9)], nested],
      [[components(200)], nested],
      [[{ type: 'error', name: '))))))))', inputs: [`${'('.repeat(10)}uint256${')'.repeat(10)}`] }], nested],
      [[{ type: 'error', name: `${')'.repeat(20)}${'('.repeat(20)}`, inputs: [] }], nested],
      [[`error X(uint256${'[]'.repeat(9)} x)`], nested],
      [[{ type: 'error', name: 'X', inputs: [{ type: `uint256${'[2]'.repeat(9)}`, name: '' }] }], nested],
      [[`error X(${Array.from({ length: 1_000 }, () => 'uint').join(',')})`], nested],
      [Array.from({ length: 513 }, () => 'error X()'), /at most 512 errors/],
      [Array.from({ length: 500_000 }, () => 0), /at most 2048 entries/],
    ] as const) {
      t.match(errorAbiSchema.safeParse(abi).error?.issues[0]?.message, said);
    }
  });
});

t.test('every form of an integer is read exactly', async (t) => {
  const property = fc.property(fc.bigInt({ min: 0n, max: (1n << 256n) - 1n }), (value) =>
    [value.toString(), `0x${value.toString(16)}`, `0o${value.toString(8)}`, `0b${value.toString(2)}`].every(
      (text) => readInteger(text) === value,
    ),
  );
  fc.assert(property, { numRuns: runsOf(200) });
  t.equal(readInteger(''), 0n);
  t.equal(readInteger(Number.MAX_SAFE_INTEGER), 9_007_199_254_740_991n);
  for (const wrong of [2 ** 53, 1.5, '1e3', '-1', ' 1', '0x', `0x1${'0'.repeat(64)}`, null, true, {}, [1]]) {
    t.equal(readInteger(wrong), undefined, JSON.stringify(wrong));
  }
});

t.test('an integer up to a bound keeps its digits', async (t) => {
  const schema = integerUpTo(2n ** 64n, 'said');
  t.equal(schema.parse('0x10'), 16);
  t.equal(schema.parse('18446744073709551616'), '18446744073709551616');
  for (const wrong of ['18446744073709551617', -1, '', undefined, 'x']) {
    t.equal(schema.safeParse(wrong).error?.issues[0]?.message, 'said', String(wrong));
  }
});

t.test('RLP has neither leading zeros nor a zero', async (t) => {
  t.equal(rlpInteger(0n), '0x');
  t.equal(rlpInteger(1n), '0x01');
  t.equal(rlpInteger(0x100n), '0x0100');
});

t.test('rlp', async (t) => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 3 }),
    fc.uint8Array({ minLength: 54, maxLength: 58 }),
    fc.uint8Array({ minLength: 250, maxLength: 260 }),
  );
  const text = bytes.map((of) => `0x${Buffer.from(of).toString('hex')}`);
  const { item } = fc.letrec<{ item: RlpItem; list: RlpItem[] }>((tie) => ({
    item: fc.oneof({ depthSize: 'small' }, text, tie('list')),
    list: fc.array(tie('item'), { maxLength: 6 }),
  }));

  t.test('it encodes as ethers does', async (t) => {
    const property = fc.property(item, (of) => encodeRlp(of) === oracle(of as Parameters<typeof oracle>[0]));
    fc.assert(property, { numRuns: runsOf(200) });
    const long = `0x${'ab'.repeat(70_000)}`;
    t.equal(encodeRlp([long, []]), oracle([long, []]));
  });

  t.test('the examples of the Ethereum wiki', async (t) => {
    const hex = (of: string) => `0x${Buffer.from(of).toString('hex')}`;
    t.equal(encodeRlp(hex('dog')), '0x83646f67');
    t.equal(encodeRlp([hex('cat'), hex('dog')]), '0xc88363617483646f67');
    t.equal(encodeRlp('0x'), '0x80');
    t.equal(encodeRlp('0x0f'), '0x0f');
    t.equal(encodeRlp([[], [[]], [[], [[]]]]), '0xc7c0c1c0c3c0c1c0');
  });
});
