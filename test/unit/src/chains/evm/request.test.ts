import { type BaseWallet, Transaction as EthersTransaction, hexlify, Signature, Wallet } from 'ethers';
import t from 'tap';
import { addressOfPublicKey, isAddress, normalAddress } from '../../../../../src/chains/evm/address.ts';
import { parseSendRequest, policyViolation } from '../../../../../src/chains/evm/request.ts';
import {
  callForEstimate,
  readChainFields,
  readStoredRequest,
  speedSchema,
} from '../../../../../src/chains/evm/schema.ts';
import type { JsonObject } from '../../../../../src/domain/json/json.ts';
import { storedTransaction } from '../../../../support/evm.ts';

const OWN = '0x00000000000000000000000000000000000000a1';
const OTHER = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const NOW = Date.parse('2026-01-01T00:00:00Z');
const VALID = { to: OTHER, value: 0, speed: 'fast' };

/** A wallet that is not the relayer's. */
const wallet = new Wallet(`0x${'46'.repeat(32)}`);

function authorization(chainId: number, key: BaseWallet = wallet) {
  const { r, s, yParity } = key.authorizeSync({ address: OTHER, chainId, nonce: 0 }).signature;
  return { chainId, address: OTHER, nonce: 0, yParity, r, s };
}

const parse = (body: unknown, policies: JsonObject = {}) => parseSendRequest(body, { address: OWN, policies }, NOW);
const without = (key: string) => Object.fromEntries(Object.entries(VALID).filter(([name]) => name !== key));

t.test('what is asked is kept as given, and numbers keep every digit', async (t) => {
  const { request, validUntil } = parse({
    to: OTHER,
    value: '57896044618658097711785492504343953926634992332820282019728792003956564819968',
    data: '0xABcd',
    gas_limit: 100_000,
    max_fee_per_gas: '340282366920938463463374607431768211455',
    max_priority_fee_per_gas: 1,
    valid_until: '2026-01-01T01:00:00.5+01:00',
  });
  t.same(request, {
    to: OTHER,
    value: `0x8${'0'.repeat(63)}`,
    data: '0xABcd',
    gas_limit: 100_000,
    gas_price: null,
    max_fee_per_gas: '340282366920938463463374607431768211455',
    max_priority_fee_per_gas: 1,
    speed: null,
  });
  t.equal(validUntil, NOW + 500);
  t.match(readStoredRequest(request), {
    value: 1n << 255n,
    gasLimit: 100_000n,
    price: { kind: 'eip1559', maxFeePerGas: (1n << 128n) - 1n, maxPriorityFeePerGas: 1n },
  });
});

t.test('values come as numbers, decimal, hexadecimal, octal and binary', async (t) => {
  for (const [value, kept] of [
    [0, '0x0'],
    ['', '0x0'],
    ['10', '0xa'],
    ['0x0a', '0xa'],
    ['0o17', '0xf'],
    ['0b101', '0x5'],
    [Number.MAX_SAFE_INTEGER, '0x1fffffffffffff'],
  ] as const) {
    t.equal(parse({ ...VALID, value }).request['value'], kept);
  }
});

t.test('what has not even the form of a request', async (t) => {
  const notWei =
    'invalid `value`: expected wei as a non-negative integer of at most 256 bits; write amounts beyond 2^53 as a string';
  const { chainId: _, ...unchained } = authorization(1);
  for (const [body, said] of [
    [null, 'expected an object, not null'],
    ['text', 'expected an object, not a string'],
    [without('value'), 'missing field `value`'],
    [{ ...VALID, value: null }, notWei],
    [{ ...VALID, value: -1 }, notWei],
    [{ ...VALID, value: 1.5 }, /non-negative integer/],
    [{ ...VALID, value: 2 ** 53 }, /non-negative integer/],
    [{ ...VALID, value: '1e18' }, /non-negative integer/],
    [{ ...VALID, value: `0x1${'0'.repeat(64)}` }, /non-negative integer/],
    [{ ...VALID, to: '0x12' }, /^invalid `to`: expected an address/],
    [
      { ...VALID, to: OTHER.replace('5aA', '5Aa') },
      'invalid `to`: the checksum (EIP-55) is wrong: check the address, or write it in lower case',
    ],
    [{ ...VALID, to: 7 }, 'invalid `to`: expected a string, not a number'],
    [{ ...VALID, data: '0x123' }, /^invalid `data`: expected an even number/],
    [{ ...VALID, data: '0xzz' }, /^invalid `data`/],
    [{ ...VALID, gas_limit: -1 }, 'invalid `gas_limit`: must not be negative'],
    [{ ...VALID, gas_limit: '18446744073709551616' }, /^invalid `gas_limit`/],
    [{ ...VALID, speed: 'safelow' }, 'invalid `speed`: expected one of fastest, fast, average, safeLow'],
    [{ ...VALID, access_list: {} }, 'invalid `access_list`: expected a list, not an object'],
    [{ ...VALID, access_list: [null] }, 'invalid `access_list.0`: expected an object, not null'],
    [{ ...VALID, access_list: [{ address: '0x' }] }, /^invalid `access_list.0.address`: expected an address/],
    [{ ...VALID, accessList: [{}] }, 'missing field `accessList.0.address`'],
    [{ ...VALID, authorization_list: [] }, 'invalid `authorization_list`: expected at least one authorization'],
    [{ ...VALID, authorization_list: [{}] }, 'missing field `authorization_list.0.address`'],
    [{ ...VALID, authorization_list: [unchained] }, 'missing field `authorization_list.0.chain_id`'],
    [{ ...VALID, abi: ['error X('] }, /^invalid `abi`: expected errors/],
    [{ ...VALID, access_list: [], accessList: [] }, 'Give access_list or accessList, not both'],
    [{ ...VALID, valid_until: 5 }, /^invalid `valid_until`/],
    [{ ...VALID, data: '0x01', input: '0x02' }, 'Give data or input, not both'],
    [{ ...VALID, input: '0x1' }, /^invalid `input`: expected an even number/],
  ] as const) {
    t.throws(() => parse(body), { code: 'INVALID_REQUEST', message: said }, JSON.stringify(body));
  }
});

t.test('what it does not know is refused: a limit that is dropped lets money move that it was to hold', async (t) => {
  const near: Record<string, string> = {
    gasLimit: 'gas_limit',
    gasPrice: 'gas_price',
    maxFeePerGas: 'max_fee_per_gas',
    maxPriorityFeePerGas: 'max_priority_fee_per_gas',
    validUntil: 'valid_until',
    gas: 'gas_limit',
    vaule: 'value',
    acces_list: 'access_list',
  };
  for (const [key, known] of Object.entries(near)) {
    const said = new RegExp(`^unknown field \`${key}\`[,:] did you mean \`${known}\`\\?$`);
    t.throws(() => parse({ ...VALID, [key]: 1 }), { code: 'INVALID_REQUEST', message: said }, key);
    t.throws(() => parse({ ...VALID, [key]: null }), { code: 'INVALID_REQUEST', message: said }, 'whatever it holds');
  }
  for (const [body, said] of [
    [{ ...VALID, nonce: 5 }, /^unknown field `nonce`: a relayer gives each transaction its nonce itself/],
    [{ ...VALID, from: OWN }, /^unknown field `from`: a relayer sends from its own address/],
    [{ ...VALID, chainId: 1 }, /^unknown field `chainId`: the network/],
    [{ to: OTHER, vaule: 0, speed: 'fast' }, 'unknown field `vaule`, did you mean `value`?'],
    [{ ...VALID, colour: 1 }, /^unknown field `colour`, expected one of `to`, `value`, `data`, /],
    [{ ...VALID, access_list: [{ address: OTHER, storage: [] }] }, /^invalid `access_list.0`: unknown field `storage`/],
  ] as const) {
    t.throws(() => parse(body), { code: 'INVALID_REQUEST', message: said });
  }
});

t.test('data may be called as JSON-RPC calls it', async (t) => {
  t.match(parse({ ...VALID, input: '0xab' }).request, { data: '0xab' });
  t.match(parse({ value: 0, speed: 'fast', input: '0x60' }).request, { to: null, data: '0x60' }, 'a creation');
  t.match(parse({ ...VALID, data: '0xab', input: '0xab' }).request, { data: '0xab' });
  t.match(parse({ ...VALID, data: '0xab', input: null }).request, { data: '0xab' });
  t.notOk('input' in parse({ ...VALID, input: '0xab' }).request, 'kept once');
});

t.test('the rules of the reference, in its order and its words', async (t) => {
  const listed = { whitelist_receivers: [OTHER] };
  const notListed = 'Transaction target address is not whitelisted';
  const third = `0x${'c'.repeat(40)}`;
  const cases: [JsonObject, JsonObject, string | RegExp][] = [
    [{ value: 0 }, listed, notListed],
    [{ ...VALID, to: third }, listed, notListed],
    [{ value: 0 }, {}, 'Both txs `to` and `data` fields are missing. At least one of them has to be set.'],
    [{ to: '', value: 0 }, {}, 'Both txs `to` and `data` fields are missing. At least one of them has to be set.'],
    [
      { to: OTHER, value: 0, valid_until: 'x' },
      { gas_limit_estimation: false },
      'gas_limit is required when gas_limit_estimation policy is disabled',
    ],
    [{ ...VALID, gas_limit: 20_999 }, {}, 'gas_limit is too low, intrinsic gas is 21000 and gas_limit is 20999'],
    [
      { data: '0x0001', value: 0, gas_limit: 53_021, valid_until: 'x' },
      {},
      'gas_limit is too low, intrinsic gas is 53022 and gas_limit is 53021',
    ],
    [
      { to: OTHER, value: 0, valid_until: '2026-01-01' },
      {},
      'Invalid validUntil datetime format: valid_until must be as 2027-01-31T00:00:00Z',
    ],
    [
      { ...VALID, valid_until: '2025-12-31T23:59:59Z' },
      {},
      /^The validUntil time cannot be in the past: valid_until is 2025-12-31T23:59:59.000Z, and it is /,
    ],
    [
      without('speed'),
      {},
      'Transaction must specify either gasPrice, speed, or EIP1559 parameters: give gas_price, or speed, or max_fee_per_gas and max_priority_fee_per_gas',
    ],
    [
      { ...VALID, gas_price: 1 },
      {},
      'Cannot mix different transaction types. Use either gasPrice, speed, or EIP1559 parameters: give gas_price, or speed, or max_fee_per_gas and max_priority_fee_per_gas',
    ],
    [
      { ...VALID, max_fee_per_gas: 1 },
      {},
      'Cannot mix different transaction types. Use either gasPrice, speed, or EIP1559 parameters: give gas_price, or speed, or max_fee_per_gas and max_priority_fee_per_gas',
    ],
    [
      { to: OTHER, value: 0, max_fee_per_gas: 1 },
      {},
      /^EIP1559 transactions require both maxFeePerGas and maxPriorityFeePerGas: max_\w+ is missing$/,
    ],
    [
      { to: OTHER, value: 0, max_fee_per_gas: 1, max_priority_fee_per_gas: 2 },
      {},
      /^maxFeePerGas must be greater than or equal to maxPriorityFeePerGas: max_fee_per_gas is \d+, max_priority_fee_per_gas \d+$/,
    ],
    [
      { to: OTHER, value: 0, gas_price: 11 },
      { gas_price_cap: 10 },
      'Gas price is too high: gas_price 11 exceeds gas price cap 10',
    ],
  ];
  for (const [body, policies, said] of cases) {
    t.throws(() => parse(body, policies), { code: 'INVALID_REQUEST', message: said }, String(said));
  }
});

t.test('the zero address and the relayer itself are never kept off by a whitelist', async (t) => {
  const policies = { whitelist_receivers: [] };
  for (const to of [OWN, OWN.toUpperCase().replace('0X', '0x'), `0x${'0'.repeat(40)}`]) {
    t.equal(parse({ ...VALID, to }, policies).request['to'], to);
  }
  t.equal(
    parse({ ...VALID, to: OTHER.toLowerCase() }, { whitelist_receivers: [OTHER] }).request['to'],
    OTHER.toLowerCase(),
  );
});

t.test('a price up to the cap is accepted, and a dynamic one above it too: it is lowered later', async (t) => {
  const policies = { gas_price_cap: 10 };
  t.ok(parse({ to: OTHER, value: 0, gas_price: 10 }, policies));
  t.ok(parse({ to: OTHER, value: 0, max_fee_per_gas: 99, max_priority_fee_per_gas: 99 }, policies));
});

t.test('lists and errors are kept in one form, and left out where there are none', async (t) => {
  const key = `0x${'01'.repeat(32)}`;
  const { request } = parse({
    ...VALID,
    accessList: [{ address: OTHER, storageKeys: [key] }],
    authorizationList: [authorization(0)],
    abi: ['function f()', 'error Bad()'],
  });
  const stored = authorization(0);
  t.match(request, {
    access_list: [{ address: OTHER.toLowerCase(), storage_keys: [key] }],
    authorization_list: [{ chain_id: 0, address: OTHER.toLowerCase(), nonce: 0, r: stored.r, s: stored.s }],
    abi: ['error Bad()'],
  });
  t.notOk(Object.keys(request).some((name) => /[A-Z]/.test(name)));
  const none = parse({ ...VALID, access_list: [], accessList: null, authorization_list: null, abi: ['function f()'] });
  t.same(none.request, parse(VALID).request);
  t.match(readStoredRequest(none.request), { accessList: [], authorizationList: [], abi: [] });
});

t.test('an authorization that would do nothing, or harm, is refused', async (t) => {
  const own = new Wallet(`0x${'77'.repeat(32)}`);
  const account = { address: own.address.toLowerCase(), policies: {}, identity: '5' };
  const listed = { ...account, policies: { whitelist_receivers: [OTHER] } };
  const dynamic = { to: OTHER, value: 0, max_fee_per_gas: 2, max_priority_fee_per_gas: 1 };
  const accepted = { ...dynamic, authorization_list: [authorization(0), authorization(5)] };
  t.ok(parseSendRequest(accepted, listed, NOW));
  t.ok(
    parseSendRequest({ ...accepted, authorization_list: [authorization(6)] }, { ...account, identity: undefined }, NOW),
  );
  const { to: _, ...creation } = { ...accepted, data: '0x00' };
  for (const [body, who, said] of [
    [{ ...dynamic, authorization_list: [authorization(6)] }, account, /^authorization_list.0 is for chain 6, and/],
    [{ ...VALID, speed: null, gas_price: 1, authorization_list: [authorization(5)] }, account, /EIP1559 parameters$/],
    [
      { ...VALID, authorization_list: [authorization(5)] },
      { ...account, policies: { eip1559_pricing: false } },
      /EIP1559 parameters$/,
    ],
    [creation, account, /requires `to`/],
    [{ ...dynamic, authorization_list: [authorization(5, own)] }, listed, /^authorization_list.0 is signed by the/],
    [
      { ...dynamic, authorization_list: [authorization(0), authorization(0, own)] },
      account,
      /^authorization_list.1 is signed by the relayer's own key/,
    ],
    [
      { ...dynamic, authorization_list: [authorization(0), { ...authorization(0), r: 5 }] },
      account,
      'invalid `authorization_list.1`: no key can have signed this',
    ],
    [{ ...dynamic, gas_limit: 1, authorization_list: [{ ...authorization(0), r: 5 }] }, account, /gas/i],
  ] as const) {
    t.throws(() => parseSendRequest(body, who, NOW), { code: 'INVALID_REQUEST', message: said });
  }
});

t.test('blobs are never left out without a word', async (t) => {
  for (const name of ['blobs', 'blob_versioned_hashes', 'blobVersionedHashes', 'max_fee_per_blob_gas']) {
    t.throws(() => parse({ ...VALID, [name]: [] }), {
      message: `unknown field \`${name}\`: blob transactions (EIP-4844) are not supported`,
    });
  }
});

t.test('what no node takes is refused before it has a nonce', async (t) => {
  const code = (bytes: number) => ({ value: 0, data: `0x${'01'.repeat(bytes)}`, speed: 'fast' });
  t.ok(parse(code(49_152)));
  t.throws(() => parse(code(49_153)), {
    message: 'data is too large, init code has 49153 bytes and 49152 are allowed',
  });
  t.ok(parse({ ...code(130_816), to: OTHER }));
  t.throws(() => parse({ ...code(130_817), to: OTHER }), {
    message: 'Transaction is too large, it has 130817 bytes and 130816 are allowed',
  });
  const keys = Array.from({ length: 3_964 }, () => `0x${'01'.repeat(32)}`);
  const listed = (count: number) => ({
    ...VALID,
    access_list: [{ address: OTHER, storage_keys: keys.slice(0, count) }],
  });
  t.ok(parse(listed(3_963)));
  t.throws(() => parse(listed(3_964)), { message: /^Transaction is too large/ });

  const most = { ...VALID, value: ((1n << 256n) - 1n).toString() };
  t.ok(parse(most), 'what the price will be is not known yet');
  const priced = { ...most, speed: null, gas_price: 1, gas_limit: 21_000 };
  t.throws(() => parse(priced), { message: 'The sum of value and fees exceeds 256 bits' });
  t.ok(parse({ ...priced, value: ((1n << 256n) - 21_001n).toString() }));
  t.throws(() => parse({ ...priced, gas_limit: null, value: ((1n << 256n) - 21_000n).toString() }), {
    message: /256 bits/,
  });
});

t.test('the gas limit covers lists, and the floor of the data', async (t) => {
  const data = `0x${'ff'.repeat(1_000)}`;
  t.throws(() => parse({ ...VALID, data, gas_limit: 60_999 }), {
    message: 'gas_limit is too low, intrinsic gas is 61000 and gas_limit is 60999',
  });
  t.ok(parse({ ...VALID, data, gas_limit: 61_000 }));
  const accesses = { access_list: [{ address: OTHER, storageKeys: [] }], authorization_list: [authorization(0)] };
  t.throws(() => parse({ ...VALID, ...accesses, gas_limit: 48_399 }), { message: /intrinsic gas is 48400/ });
  t.ok(parse({ ...VALID, ...accesses, gas_limit: 48_400 }));
  t.ok(parse({ ...VALID, gas_limit: 30_000_000 }), 'whether 2^24 is too much is for the network to say (EIP-7825)');
});

t.test('the encoded size is never more than was reckoned', async (t) => {
  const authorizations = Array.from({ length: 3 }, () => authorization(0));
  const body = {
    to: OTHER,
    value: '0x8'.padEnd(66, '0'),
    data: `0x${'01'.repeat(1_000)}`,
    max_fee_per_gas: ((1n << 127n) - 1n).toString(),
    max_priority_fee_per_gas: ((1n << 127n) - 1n).toString(),
    gas_limit: '1000000',
  };
  const most = EthersTransaction.from({
    type: 4,
    to: OTHER,
    value: BigInt(body.value),
    data: body.data,
    chainId: (1n << 64n) - 1n,
    nonce: Number.MAX_SAFE_INTEGER,
    gasLimit: (1n << 64n) - 1n,
    maxFeePerGas: (1n << 128n) - 1n,
    maxPriorityFeePerGas: (1n << 128n) - 1n,
    accessList: [[OTHER, [`0x${'01'.repeat(32)}`]]],
    authorizationList: authorizations.map(({ r, s, yParity }) => ({
      chainId: (1n << 64n) - 1n,
      address: OTHER,
      nonce: (1n << 64n) - 2n,
      signature: Signature.from({ r, s, yParity: yParity === 1 ? 1 : 0 }),
    })),
    signature: { r: `0x${'f'.repeat(64)}`, s: `0x7${'f'.repeat(63)}`, yParity: 1 },
  });
  const bytes = (most.serialized.length - 2) / 2;
  t.ok(bytes <= 256 + 1_000 + 29 + 33 + 3 * 136, `${bytes} bytes`);
});

t.test('policy checks', async (t) => {
  const FROM = '0x00000000000000000000000000000000000000a1';
  const TO = '0x00000000000000000000000000000000000000b0';
  const OTHER = '0x00000000000000000000000000000000000000c1';
  const TRANSFER = { to: TO, value: 5, speed: 'fast' };

  const requestOf = (body: JsonObject) =>
    readStoredRequest(storedTransaction({ address: FROM, policies: {} }, body).request);
  const violation = (policies: JsonObject, body: JsonObject = TRANSFER) =>
    policyViolation(requestOf(body), { address: FROM, policies }, { privateEndpoints: [] });

  t.test('what the policies allow goes', async (t) => {
    for (const policies of [
      {},
      { whitelist_receivers: [OTHER, TO] },
      { eip1559_pricing: false, min_balance: 0, gas_price_cap: 1 },
      { private_transactions: false },
    ]) {
      t.equal(violation(policies), undefined, JSON.stringify(policies));
    }
    const limited = { ...TRANSFER, gas_limit: 21_000 };
    t.equal(violation({ gas_limit_estimation: false }, limited), undefined);
    t.equal(violation({ whitelist_receivers: [] }, { ...TRANSFER, to: FROM }), undefined, 'the account itself');
  });

  t.test('a violation names the policy', async (t) => {
    const { r, s, yParity } = Wallet.createRandom().authorizeSync({ address: TO, nonce: 0, chainId: 31_337 }).signature;
    const list = [{ chain_id: 31_337, address: TO, nonce: 0, y_parity: yParity, r, s }];
    for (const [policies, body, reason] of [
      [
        { whitelist_receivers: [OTHER] },
        TRANSFER,
        'Policy whitelist_receivers: Transaction target address is not whitelisted',
      ],
      [
        { whitelist_receivers: [OTHER] },
        { value: 0, data: '0x6001', speed: 'fast' },
        'Policy whitelist_receivers: Transaction target address is not whitelisted',
      ],
      [
        { gas_limit_estimation: false },
        TRANSFER,
        'Policy gas_limit_estimation: gas_limit is required when gas_limit_estimation policy is disabled',
      ],
      [
        { eip1559_pricing: false },
        { ...TRANSFER, authorization_list: list },
        'Policy eip1559_pricing: authorization_list requires EIP1559 parameters',
      ],
      [
        { private_transactions: true },
        TRANSFER,
        'Policy private_transactions: the network has no private_rpc_urls any more',
      ],
    ] as const) {
      t.equal(violation(policies as JsonObject, body as JsonObject), reason);
    }
  });
});

t.test('stored requests and fields are parsed on the way out', async (t) => {
  const request = {
    to: null,
    value: '0x1',
    data: '0x00',
    gas_limit: null,
    gas_price: null,
    max_fee_per_gas: null,
    max_priority_fee_per_gas: null,
    speed: 'safeLow',
  };
  t.match(readStoredRequest(request), {
    to: null,
    value: 1n,
    gasLimit: null,
    price: { kind: 'speed', speed: 'safeLow' },
  });
  t.match(readStoredRequest({ ...request, gas_price: 7, speed: null }).price, { kind: 'legacy', gasPrice: 7n });
  t.throws(() => readStoredRequest({ ...request, value: 'one' }));
  t.equal(readChainFields({}), undefined);
  t.throws(() => readChainFields({ from: 5 }));
  t.same(speedSchema.options, ['fastest', 'fast', 'average', 'safeLow']);
});

t.test('a request stored before there were lists has none', async (t) => {
  const before = {
    to: null,
    value: '0x1',
    data: '0x00',
    gas_limit: null,
    gas_price: null,
    max_fee_per_gas: null,
    max_priority_fee_per_gas: null,
    speed: 'fast',
  };
  t.match(readStoredRequest(before), { accessList: [], authorizationList: [], abi: [] });
  const list = [{ address: '0xaa', storage_keys: ['0xbb'] }];
  t.same(readStoredRequest({ ...before, access_list: list, abi: ['error X()'] }).accessList, list);
  t.throws(() => readStoredRequest({ ...before, access_list: [{ address: '0xaa' }] }));
  t.throws(() => readStoredRequest({ ...before, blobs: [] }));
});

t.test('an estimate is asked for with everything that costs gas', async (t) => {
  const receiver = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const request = {
    to: receiver,
    value: '0x10',
    data: 'ab',
    gas_limit: 5,
    gas_price: 7,
    max_fee_per_gas: null,
    max_priority_fee_per_gas: null,
    speed: null,
  };
  t.same(callForEstimate(readStoredRequest(request), '0xf'), {
    from: '0xf',
    to: receiver.toLowerCase(),
    value: '0x10',
    data: '0xab',
  });
  t.same(callForEstimate(readStoredRequest({ ...request, to: null, data: null }), '0xf'), {
    from: '0xf',
    value: '0x10',
  });
  const lists = {
    access_list: [{ address: '0xaa', storage_keys: ['0xbb'] }],
    authorization_list: [{ chain_id: 0, address: '0xcc', nonce: 1, y_parity: 1, r: '0x0d', s: '0x0e' }],
  };
  t.match(callForEstimate(readStoredRequest({ ...request, ...lists }), '0xf'), {
    accessList: [{ address: '0xaa', storageKeys: ['0xbb'] }],
    authorizationList: [{ chainId: '0x0', address: '0xcc', nonce: '0x1', yParity: '0x1', r: '0xd', s: '0xe' }],
  });
});

t.test('address', async (t) => {
  /** The checksummed example of EIP-55. */
  const CHECKSUMMED = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

  t.test('an address is 20 bytes, and one in mixed case carries its checksum', async (t) => {
    const digits = CHECKSUMMED.slice(2);
    for (const good of [CHECKSUMMED, digits, `0x${digits.toLowerCase()}`, `0x${digits.toUpperCase()}`]) {
      t.ok(isAddress(good), good);
      t.equal(normalAddress(good), `0x${digits.toLowerCase()}`);
    }
    for (const bad of [
      '',
      '0x',
      CHECKSUMMED.slice(0, -1),
      `${CHECKSUMMED}0`,
      CHECKSUMMED.replace('5aA', '5Aa'),
      'vitalik.eth',
    ]) {
      t.notOk(isAddress(bad), bad);
    }
  });

  t.test('ethers agrees about the account of a key', async (t) => {
    for (let count = 0; count < 5; count += 1) {
      const wallet = Wallet.createRandom();
      const publicKey = Buffer.from(wallet.signingKey.publicKey.slice(2), 'hex');
      t.equal(addressOfPublicKey(publicKey), wallet.address.toLowerCase(), hexlify(publicKey));
    }
  });
});
