import { TypedDataEncoder } from 'ethers';
import t from 'tap';
import { typedDataDigest } from '../../../../../../src/chains/evm/form/typed-data.ts';

/** The example of EIP-712 itself, with its published hashes. */
const PERSON = [
  { name: 'name', type: 'string' },
  { name: 'wallet', type: 'address' },
];
const MAIL = {
  types: {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
      { name: 'verifyingContract', type: 'address' },
    ],
    Person: PERSON,
    Mail: [
      { name: 'from', type: 'Person' },
      { name: 'to', type: 'Person' },
      { name: 'contents', type: 'string' },
    ],
  },
  primaryType: 'Mail',
  domain: {
    name: 'Ether Mail',
    version: '1',
    chainId: 1,
    verifyingContract: '0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC',
  },
  message: {
    from: { name: 'Cow', wallet: '0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826' },
    to: { name: 'Bob', wallet: '0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB' },
    contents: 'Hello, Bob!',
  },
};
const DOMAIN_SEPARATOR = 'f2cee375fa42b42143804025fc449deafd50cc031ca257e0b194a650a912090f';
const HASH_STRUCT = 'c52c0ee5d84264471806290a3f2c4cecfc5490626bf912d01f240d7a274b371e';
const DIGEST = 'be609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2';

const digest = (body: unknown) => typedDataDigest(body).toString('hex');

t.test('the example of EIP-712, with and without 0x, and as a whole', async (t) => {
  for (const prefix of ['', '0x']) {
    const body = { domain_separator: prefix + DOMAIN_SEPARATOR, hash_struct_message: prefix + HASH_STRUCT };
    t.equal(digest(body), DIGEST);
    t.throws(() => digest({ ...body, types: {} }), { message: /^unknown field `types`/ }, 'digests or the whole');
  }
  t.equal(digest(MAIL), DIGEST);
  const { EIP712Domain: _, ...types } = MAIL.types;
  t.equal(digest({ ...MAIL, types }), DIGEST, 'the type of the domain follows from the domain');
  t.equal(digest({ ...MAIL, types: { ...types, Unused: PERSON } }), DIGEST, 'unused types do not matter');
});

t.test('digests that are none, in the reference’s words', async (t) => {
  const good = '11'.repeat(32);
  for (const [domain, message, said] of [
    ['11', good, 'Invalid domain separator length: expected 32 bytes, got 1'],
    ['', good, 'Invalid domain separator length: expected 32 bytes, got 0'],
    [good, `${good}00`, 'Invalid hash struct length: expected 32 bytes, got 33'],
    [good, 'zz', "Invalid hash struct message hex: non-hexadecimal character 'z' at position 0 (input: zz...)"],
    ['0x1😀', good, "Invalid domain separator hex: non-hexadecimal character '😀' at position 1 (input: 0x1😀...)"],
    [good, '111', 'Invalid hash struct message hex: odd number of digits'],
  ] as const) {
    t.throws(() => digest({ domain_separator: domain, hash_struct_message: message }), {
      code: 'INVALID_REQUEST',
      status: 400,
      message: `Failed to sign transaction: ${said}`,
    });
  }
  t.throws(() => digest({ domain_separator: good }), { message: 'missing field `hash_struct_message`' });
  t.throws(() => digest({ more: 1 }), {
    message:
      'missing field `domain_separator`: expected domain_separator and hash_struct_message, or domain, types, primaryType and message',
  });
  t.throws(() => digest(null), { code: 'INVALID_REQUEST', message: 'expected an object, not null' });
  t.throws(() => digest({ domain_separator: good, hash_struct_message: good, extra: {} }), {
    message: 'unknown field `extra`, expected `domain_separator` or `hash_struct_message`',
  });
});

t.test('lists, nested types and every kind of value agree with ethers', async (t) => {
  const types = {
    Order: [
      { name: 'parts', type: 'Part[2][]' },
      { name: 'flag', type: 'bool' },
      { name: 'blob', type: 'bytes' },
      { name: 'mark', type: 'bytes4' },
      { name: 'small', type: 'int8' },
    ],
    Part: [{ name: 'amount', type: 'uint128' }],
  };
  const part = (amount: string) => ({ amount });
  const parts = [[part('1'), part('340282366920938463463374607431768211455')]];
  const message = { parts, flag: false, blob: '0x0102', mark: '0xdeadbeef', small: -3 };
  const domain = { salt: `0x${'ab'.repeat(32)}`, name: 'x' };
  const expected = TypedDataEncoder.hash(domain, types, message).slice(2);
  t.equal(digest({ domain, types, primaryType: 'Order', message }), expected);
});

t.test('a whole that does not fit together is refused, and nothing is guessed', async (t) => {
  const types = { A: [{ name: 'yes', type: 'bool' }] };
  const base = { domain: { name: 'x' }, types, primaryType: 'A', message: { yes: true } };
  t.equal(digest(base).length, 64);
  const typed = (type: string, yes: unknown) => ({ ...base, types: { A: [{ name: 'yes', type }] }, message: { yes } });
  const many = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`T${index}`, types.A]));
  for (const [body, said] of [
    [{ ...base, message: { yes: 'false' } }, /`message` does not fit its type: a bool is neither true nor false/],
    [{ ...base, message: {} }, /`message` does not fit its type: a bool is missing/],
    [{ ...base, message: { yes: null } }, /a bool is missing/],
    [{ ...base, primaryType: 'Foo' }, '`types` has no `Foo`'],
    [{ ...base, primaryType: 'toString' }, '`types` has no `toString`'],
    [typed('toString', true), '`types` has no `toString`'],
    [typed('Foo[]', []), '`types` has no `Foo`'],
    [typed('A', {}), '`message` does not fit its type: circular type reference to "A"'],
    [typed('uint8', 256), '`message` does not fit its type: value out-of-bounds for uint8'],
    [typed('uint8', 1.5), '`message` does not fit its type: underflow'],
    [typed('uint8[]', 5), '`message` does not fit its type: a list or a struct is of another kind'],
    [typed('bytes33', '0x'), '`message` does not fit its type: invalid bytes width'],
    [
      { ...base, types: { ...types, bool: types.A } },
      /^`message` does not fit its type: circular type reference to "bool"/,
    ],
    [{ ...base, domain: { verifyingContract: 'x' } }, '`domain` does not fit its type: invalid address'],
    [{ ...base, domain: { chainId: 'x' } }, /^`domain` does not fit its type: invalid BigNumberish/],
    [{ ...base, types: many }, /more than 24 types/],
    [{ ...base, message: { yes: true, more: 'x'.repeat(65_536) } }, /longer than 65536 characters/],
    [{ ...base, types: { A: [{ name: 'yes', type: 'bool'.padEnd(300, '[]') }] } }, /^invalid `types.A.0.type`/],
    [{ ...base, message: undefined }, /^invalid `message`/],
    [{ domain: {}, types, message: {} }, 'missing field `primaryType`'],
    [{ domain: {}, primaryType: 'A', message: {} }, 'missing field `types`'],
    [{ ...base, types: { A: [{ name: 'yes' }] } }, 'missing field `types.A.0.type`'],
  ] as const) {
    t.throws(() => digest(body), { code: 'INVALID_REQUEST', message: said });
  }
});

t.test('a domain with a key that would not be signed is refused', async (t) => {
  const types = { Foo: [{ name: 'a', type: 'bool' }] };
  const base = { types, primaryType: 'Foo', message: { a: true } };
  const known = 'EIP-712 knows name, version, chainId, verifyingContract, salt (or declare it in types.EIP712Domain)';
  for (const [domain, key] of [
    [{ nam: 'x' }, 'nam'],
    [{ name: 'x', chainID: 1 }, 'chainID'],
    [{ name: 'x', verifying_contract: `0x${'0'.repeat(40)}` }, 'verifying_contract'],
    [{ name: 'x', hasOwnProperty: 1 }, 'hasOwnProperty'],
    [{ ['k'.repeat(100)]: 1 }, 'k'.repeat(64)],
  ] as const) {
    t.throws(() => digest({ ...base, domain }), {
      code: 'INVALID_REQUEST',
      message: `\`domain\` has the unknown key \`${key}\`; ${known}`,
    });
  }
  const declared = { ...types, EIP712Domain: [{ name: 'nam', type: 'string' }] };
  t.equal(digest({ ...base, types: declared, domain: { nam: 'x' } }).length, 64, 'a declared key is signed');
  t.not(digest({ ...base, types: declared, domain: { nam: 'x' } }), digest({ ...base, domain: {} }));
  t.throws(() => digest({ ...base, types: declared, domain: { nam: 'x', name: 'y' } }), {
    message: '`domain` has the unknown key `name`; types.EIP712Domain does not name it',
  });
});

t.test('types that are too wide and lists that are too long are refused, and the longest list is hashed', async (t) => {
  const layer = (index: number) => [0, 1, 2].map((column) => ({ name: `f${column}`, type: `L${index + 1}c${column}` }));
  const wide: Record<string, { name: string; type: string }[]> = { A: layer(0) };
  for (let index = 1; index < 8; index += 1) {
    for (let column = 0; column < 3; column += 1) {
      wide[`L${index}c${column}`] = index === 7 ? [{ name: 'x', type: 'bool' }] : layer(index);
    }
  }
  const list = { A: [{ name: 'all', type: 'uint256[]' }] };
  t.throws(() => digest({ domain: {}, types: wide, primaryType: 'A', message: {} }), { code: 'INVALID_REQUEST' });
  const data = (length: number) => ({ all: Array.from({ length }, () => 1) });
  const listed = (length: number) => digest({ domain: {}, types: list, primaryType: 'A', message: data(length) });
  t.equal(listed(1_024).length, 64);
  t.throws(() => listed(1_025), { message: /more than 1024 values/ });
});

t.test('what would take long to hash, or even to read, is refused before', async (t) => {
  const base = { domain: {}, primaryType: 'T0', message: {} };
  /** Types that each have one field of every later type. */
  const each = (count: number) => {
    const fields = (index: number) =>
      Array.from({ length: count - 1 - index }, (_, later) => ({ name: `f${later}`, type: `T${index + 1 + later}` }));
    const types = Array.from({ length: count }, (_, index) => [`T${index}`, fields(index)]);
    return { ...base, types: Object.fromEntries(types) };
  };
  const all = (index: number, count: number): object =>
    Object.fromEntries(
      Array.from({ length: count - 1 - index }, (_, later) => [`f${later}`, all(index + 1 + later, count)]),
    );
  const five = { ...each(5), message: all(0, 5) };
  t.equal(digest(five).length, 64);
  t.throws(() => digest(each(24)), { message: '`types` refer to each other in too many ways' });

  const list = { ...base, types: { T0: [{ name: 'all', type: 'T1[]' }], T1: [] } };
  const structs = (length: number) => ({ ...list, message: { all: Array.from({ length }, () => ({})) } });
  t.equal(digest(structs(1_022)).length, 64);
  t.throws(() => digest(structs(1_023)), { message: '`message` has more than 1024 structs and lists' });
  t.throws(() => digest({ ...list, types: { T0: Array.from({ length: 20_000 }, () => 0) } }), {
    message: 'invalid `types.T0`: expected at most 1024 entries',
  });
  const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`T${index}`, []]));
  t.throws(() => digest({ ...base, types: many }), { message: '`types` has more than 24 types' });
  t.throws(() => digest({ ...base, types: {}, message: { x: 'x'.repeat(70_000) } }), { message: /longer than 65536/ });
  t.throws(() => digest({ ...list, message: { all: Array.from({ length: 1_500 }, () => 0) } }), {
    message: '`message` does not fit its type: a struct is of another kind',
  });
});
