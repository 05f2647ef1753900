import t from 'tap';
import { parseRequest } from '../../../../../src/chains/evm/request.ts';
import { readRequest } from '../../../../../src/chains/evm/schema.ts';
import type { JsonObject } from '../../../../../src/domain/json.ts';

const OWN = '0x00000000000000000000000000000000000000a1';
const OTHER = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const NOW = Date.parse('2026-01-01T00:00:00Z');
const VALID = { to: OTHER, value: 0, speed: 'fast' };

const parse = (body: unknown, policies: JsonObject = {}) => parseRequest(body, { address: OWN, policies }, NOW);
const without = (key: string) => Object.fromEntries(Object.entries(VALID).filter(([name]) => name !== key));

t.test('what is asked is kept as given, and numbers keep every digit', async (t) => {
  const { request, validUntil } = parse({
    to: OTHER,
    value: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
    data: '0xABcd',
    gas_limit: 100_000,
    max_fee_per_gas: '340282366920938463463374607431768211455',
    max_priority_fee_per_gas: 1,
    valid_until: '2026-01-01T01:00:00.5+01:00',
    unknown: 'is ignored',
  });
  t.same(request, {
    to: OTHER,
    value: `0x${'f'.repeat(64)}`,
    data: '0xABcd',
    gas_limit: 100_000,
    gas_price: null,
    max_fee_per_gas: '340282366920938463463374607431768211455',
    max_priority_fee_per_gas: 1,
    speed: null,
  });
  t.equal(validUntil, NOW + 500);
  t.match(readRequest(request), {
    value: (1n << 256n) - 1n,
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
  for (const [body, said] of [
    [null, 'expected a JSON object'],
    ['text', 'expected a JSON object'],
    [without('value'), 'missing field `value`'],
    [{ ...VALID, value: null }, /^invalid `value`: expected an integer/],
    [{ ...VALID, value: -1 }, /non-negative integer/],
    [{ ...VALID, value: 1.5 }, /non-negative integer/],
    [{ ...VALID, value: 2 ** 53 }, /non-negative integer/],
    [{ ...VALID, value: '1e18' }, /non-negative integer/],
    [{ ...VALID, value: `0x1${'0'.repeat(64)}` }, /non-negative integer/],
    [{ ...VALID, to: '0x12' }, /^invalid `to`: expected an address/],
    [{ ...VALID, to: OTHER.replace('5aA', '5Aa') }, /^invalid `to`/],
    [{ ...VALID, to: 7 }, /^invalid `to`/],
    [{ ...VALID, data: '0x123' }, /^invalid `data`: expected an even number/],
    [{ ...VALID, data: '0xzz' }, /^invalid `data`/],
    [{ ...VALID, gas_limit: -1 }, 'invalid `gas_limit`: negative value cannot be converted to u64'],
    [{ ...VALID, gas_limit: '18446744073709551616' }, /^invalid `gas_limit`/],
    [{ ...VALID, speed: 'safelow' }, /^invalid `speed`/],
    [{ ...VALID, valid_until: 5 }, /^invalid `valid_until`/],
  ] as const) {
    t.throws(() => parse(body), { code: 'INVALID_REQUEST', message: said }, JSON.stringify(body));
  }
});

t.test('the rules of the reference, in its order and its words', async (t) => {
  const listed = { whitelist_receivers: [OTHER] };
  const notListed = 'Transaction target address is not whitelisted';
  const third = `0x${'c'.repeat(40)}`;
  const cases: [JsonObject, JsonObject, string][] = [
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
      { data: '0x0001', value: 0, gas_limit: 53_019, valid_until: 'x' },
      {},
      'gas_limit is too low, intrinsic gas is 53020 and gas_limit is 53019',
    ],
    [{ to: OTHER, value: 0, valid_until: '2026-01-01' }, {}, 'Invalid validUntil datetime format'],
    [{ ...VALID, valid_until: '2025-12-31T23:59:59Z' }, {}, 'The validUntil time cannot be in the past'],
    [without('speed'), {}, 'Transaction must specify either gasPrice, speed, or EIP1559 parameters'],
    [
      { ...VALID, gas_price: 1 },
      {},
      'Cannot mix different transaction types. Use either gasPrice, speed, or EIP1559 parameters',
    ],
    [
      { ...VALID, max_fee_per_gas: 1 },
      {},
      'Cannot mix different transaction types. Use either gasPrice, speed, or EIP1559 parameters',
    ],
    [
      { to: OTHER, value: 0, max_fee_per_gas: 1 },
      {},
      'EIP1559 transactions require both maxFeePerGas and maxPriorityFeePerGas',
    ],
    [
      { to: OTHER, value: 0, max_fee_per_gas: 1, max_priority_fee_per_gas: 2 },
      {},
      'maxFeePerGas must be greater than or equal to maxPriorityFeePerGas',
    ],
    [{ to: OTHER, value: 0, gas_price: 11 }, { gas_price_cap: 10 }, 'Gas price is too high'],
  ];
  for (const [body, policies, said] of cases) {
    t.throws(() => parse(body, policies), { code: 'INVALID_REQUEST', message: said }, said);
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
