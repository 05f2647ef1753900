/** For each type of argument there is one valid value and one invalid value. A type without both fails here. */

import { scValToNative } from '@stellar/stellar-sdk';
import t from 'tap';
import { contractValueSchema } from '../../../../../../src/chains/stellar/form/contract.ts';
import {
  atKey,
  contractValueOf,
  errorValueOf,
  integer128,
  integer256,
  parseInteger,
  ValueFault,
} from '../../../../../../src/chains/stellar/message/contract-value.ts';

const ACCOUNT = 'GDLVVGABQKYQVN6VJP7NHSLEA45A5YLS6PNKMIZFV4BBU2HXA5IRVHUR';

/** By type: a valid value, what the contract sees of it, and an invalid value. */
const TYPES: Record<string, [good: unknown, seen: unknown, bad: unknown]> = {
  bool: [true, true, 'true'],
  void: [null, null, 0],
  error: [{ contract: 7 }, { type: 'contract', code: 7, value: 7 }, { contract: -1 }],
  u32: [4_294_967_295, 4_294_967_295, 4_294_967_296],
  i32: [-2_147_483_648, -2_147_483_648, 2_147_483_648],
  u64: ['18446744073709551615', 18_446_744_073_709_551_615n, 2 ** 53],
  i64: ['-9223372036854775808', -9_223_372_036_854_775_808n, '9223372036854775808'],
  timepoint: ['1700000000', 1_700_000_000n, -1],
  duration: [60, 60n, '1.5'],
  u128: [{ hi: '1', lo: 2 }, 2n ** 64n + 2n, { hi: 1 }],
  i128: [{ hi: '-1', lo: '18446744073709551615' }, -1n, { hi: 0, lo: -1 }],
  u256: [{ hi_hi: 0, hi_lo: 0, lo_hi: 1, lo_lo: 0 }, 2n ** 64n, { hi_hi: 0, hi_lo: 0, lo_hi: 1 }],
  i256: [
    { hi_hi: -1, hi_lo: '18446744073709551615', lo_hi: '18446744073709551615', lo_lo: '18446744073709551615' },
    -1n,
    1.5,
  ],
  bytes: ['00ff', Buffer.from([0, 255]), '0x00'],
  string: ['grüner Tee', 'grüner Tee', 1],
  symbol: ['transfer', 'transfer', 'x'.repeat(33)],
  vec: [[{ u32: 1 }, 'void'], [1, null], { u32: 1 }],
  map: [[{ key: { symbol: 'a' }, val: { u32: 1 } }], { a: 1 }, [{ key: { symbol: 'a' } }]],
  address: [ACCOUNT, ACCOUNT, 'M'.concat(ACCOUNT.slice(1))],
};

const faultOf = (value: unknown) => contractValueSchema.safeParse(value).error?.issues[0];

t.test('each type has both', (t) => {
  const [, names = ''] = /^expected one of (.*)$/.exec(faultOf({ nothing: 1 })?.message ?? '') ?? [];
  t.same(names.split(', ').sort(), Object.keys(TYPES).sort());
  for (const [type, [good, seen, bad]] of Object.entries(TYPES)) {
    const value = { [type]: good };
    t.strictSame(contractValueSchema.parse(value), value, `${type} is kept as it came`);
    if (type !== 'error') t.same(scValToNative(contractValueOf(value)), seen, type);
    t.match(faultOf({ [type]: bad }), { path: [type] }, `${type}: no ${JSON.stringify(bad)}`);
  }
  t.end();
});

t.test('wide integers may be one', (t) => {
  for (const [type, good, bad] of [
    ['u128', String(2n ** 128n - 1n), String(2n ** 128n)],
    ['i128', String(-(2n ** 127n)), String(2n ** 127n)],
    ['u256', String(2n ** 256n - 1n), String(2n ** 256n)],
    ['i256', String(-(2n ** 255n)), String(2n ** 255n)],
  ] as const) {
    t.equal(scValToNative(contractValueOf({ [type]: good })), BigInt(good), type);
    t.ok(faultOf({ [type]: bad }), type);
  }
  t.end();
});

t.test('a fault has its place', (t) => {
  t.match(faultOf({ vec: [{ u32: 1 }, { map: [{ key: 'void', val: { bool: 1 } }] }] }), {
    path: ['vec', 1, 'map', 0, 'val', 'bool'],
    message: 'expected true or false',
  });
  for (const none of [
    null,
    undefined,
    1,
    'u32',
    [],
    {},
    { u32: 1, i32: 1 },
    { contract_instance: {} },
    { toString: 1 },
  ]) {
    t.ok(faultOf(none), JSON.stringify(none));
  }
  t.equal(faultOf('void'), undefined);
  t.end();
});

t.test('nothing is deeper than the host goes', (t) => {
  const nested = (levels: number) => {
    let value: unknown = 'void';
    for (let level = 0; level < levels; level += 1) value = { vec: [value] };
    return value;
  };
  t.equal(faultOf(nested(100)), undefined);
  t.match(faultOf(nested(101)), { message: 'expected at most 100 levels' });
  t.ok(faultOf(nested(5_000)));
  t.end();
});

t.test('value fault', async (t) => {
  t.test('a fault is told from the outside', (t) => {
    const inside = () => atKey('b', () => atKey(0, () => fault('no')));
    t.throws(() => atKey('a', inside), { message: 'no', path: ['a', 'b', 0] });
    t.equal(
      atKey('a', () => 5),
      5,
    );
    const other = new Error('other');
    t.throws(() => atKey('a', () => thrown(other)), other, 'nothing else is touched');
    t.end();
  });

  function fault(message: string): never {
    throw new ValueFault(message);
  }

  function thrown(error: Error): never {
    throw error;
  }
});

t.test('digits are kept, whatever holds them', (t) => {
  t.equal(parseInteger('9007199254740993', 0n, 2n ** 64n), 9_007_199_254_740_993n);
  t.equal(parseInteger(-3, -3n, 3n), -3n);
  for (const none of [2 ** 53, 1.5, '1e3', ' 1', '0x1', '', '9'.repeat(81), null, true, 4, -4]) {
    t.throws(() => parseInteger(none, -3n, 3n), { name: 'ValueFault' }, String(none));
  }
  t.end();
});

t.test('parts have the sign in the first', (t) => {
  t.same(integer128({ hi: -1, lo: '18446744073709551615' }, true), { hi: -1n, lo: 2n ** 64n - 1n });
  t.same(integer128('-1', true), { hi: -1n, lo: 2n ** 64n - 1n });
  t.same(integer256(5, false), { hiHi: 0n, hiLo: 0n, loHi: 0n, loLo: 5n });
  t.same(integer256({ hi_hi: 1, hi_lo: 2, lo_hi: 3, lo_lo: 4 }, false), { hiHi: 1n, hiLo: 2n, loHi: 3n, loLo: 4n });
  t.throws(() => integer128({ hi: -1, lo: 0 }, false), { name: 'ValueFault', path: ['hi'] });
  t.throws(() => integer128({ hi: 0, lo: -1 }, true), { name: 'ValueFault', path: ['lo'] });
  t.throws(() => integer128({ hi: 0, lo: 0, more: 0 }, true), { message: 'expected {hi, lo}' });
  t.throws(() => integer256({ hi: 0, lo: 0 }, true), { message: 'expected {hi_hi, hi_lo, lo_hi, lo_lo}' });
  t.end();
});

t.test('an error has one kind and a code of it', (t) => {
  t.match(errorValueOf({ contract: 7 }), { type: 'sceContract', contractCode: 7 });
  t.match(errorValueOf({ auth: 'invalid_action' }), { type: 'sceAuth', code: { name: 'scecInvalidAction' } });
  for (const kind of ['wasm_vm', 'context', 'storage', 'object', 'crypto', 'events', 'budget', 'value']) {
    const pascal = kind.replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase());
    t.match(errorValueOf({ [kind]: 'internal_error' }), { type: `sce${pascal}` });
  }
  t.throws(() => errorValueOf({ auth: 'toString' }), { path: ['auth'], message: /^expected one of arith_domain/ });
  t.throws(() => errorValueOf({ auth: 1 }), { name: 'ValueFault', path: ['auth'] });
  t.throws(() => errorValueOf({ toString: 1 }), { message: /^expected one of contract, wasm_vm/ });
  t.throws(() => errorValueOf({ contract: 2 ** 32 }), { name: 'ValueFault', path: ['contract'] });
  for (const none of [{}, { contract: 1, auth: 'invalid_action' }, 'contract', null]) {
    t.throws(() => errorValueOf(none), { message: 'expected one kind of error' });
  }
  t.end();
});

t.test('a value stays as it was written, and its fault has a place', (t) => {
  const value = { vec: [{ i128: { hi: '0', lo: 7 } }, 'void'] };
  t.strictSame(contractValueSchema.parse(value), value);
  t.match(contractValueSchema.safeParse({ vec: [{ u32: 'x' }] }).error?.issues, [
    { path: ['vec', 0, 'u32'], message: /^expected an integer from 0 to 4294967295/ },
  ]);
  t.end();
});
