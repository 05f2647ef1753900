import { randomBytes } from 'node:crypto';
import { Transaction as EthersTransaction, TypedDataEncoder, verifyMessage, verifyTypedData, Wallet } from 'ethers';
import t from 'tap';
import { addressOfPublicKey } from '../../../../../src/chains/evm/address.ts';
import { signOnlyTransaction } from '../../../../../src/chains/evm/form/sign-only.ts';
import { typedDataDigest } from '../../../../../src/chains/evm/form/typed-data.ts';
import { readChainFields } from '../../../../../src/chains/evm/schema.ts';
import {
  signatureView,
  signDigestForAccount,
  signMessage,
  signTransaction,
  signTypedData,
  unsignedBytes,
} from '../../../../../src/chains/evm/signing.ts';
import type { JsonObject } from '../../../../../src/domain/json/json.ts';
import { createKeySigner } from '../../../../../src/signers/held-key.ts';
import { storedTransaction } from '../../../../support/evm.ts';
import { fc, runsOf } from '../../../../support/properties.ts';

const signer = createKeySigner('test', randomBytes(32));
const from = addressOfPublicKey(await signer.publicKey('secp256k1'));
const account = { address: from, policies: {} };
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

const uint = (bits: number) => fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n });
const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((b) => `0x${Buffer.from(b).toString('hex')}`);

const common = {
  chainId: uint(62).filter((id) => id > 0n),
  nonce: uint(53),
  gasLimit: uint(64).map((gas) => (gas < 10_000_000n ? 10_000_000n : gas)),
  to: hex(20),
  createsContract: fc.boolean(),
  value: uint(200),
  data: fc.uint8Array({ maxLength: 200 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
  fees: fc.tuple(uint(50), uint(50)).map(([a, b]) => (a > b ? { max: a, tip: b } : { max: b, tip: a })),
  accessList: fc.array(fc.record({ address: hex(20), storageKeys: fc.array(hex(32), { maxLength: 3 }) }), {
    minLength: 1,
    maxLength: 3,
  }),
  authorities: fc.array(fc.tuple(hex(32), hex(20), uint(53), fc.boolean()), { minLength: 1, maxLength: 3 }),
};

type Content = { [K in keyof typeof common]: (typeof common)[K] extends fc.Arbitrary<infer T> ? T : never };

/** The authorizations that a wallet makes with each of the given keys. */
function authorizations({ authorities, chainId }: Content) {
  return authorities.map(([key, address, nonce, anyChain]) => {
    const on = anyChain ? 0n : chainId;
    const { r, s, yParity } = new Wallet(key).authorizeSync({ address, nonce, chainId: on }).signature;
    return { chain_id: on.toString(), address, nonce: nonce.toString(), y_parity: yParity, r, s };
  });
}

async function sign(content: Content, type: 0 | 1 | 2 | 4) {
  const lists = {
    ...(type === 1 || content.fees.tip % 2n === 0n ? { access_list: content.accessList } : {}),
    ...(type === 4 ? { authorization_list: authorizations(content) } : {}),
  };
  const priced = type < 2 ? { gas_price: String(content.fees.max) } : dynamic(content);
  const transaction = storedTransaction(account, {
    to: content.createsContract && type !== 4 ? null : content.to,
    value: content.value.toString(),
    data: content.data,
    gas_limit: content.gasLimit.toString(),
    ...(type === 0 ? {} : lists),
    ...priced,
  });
  const prepared = { chain_id: content.chainId.toString(), from, gas_limit: content.gasLimit.toString(), ...priced };
  return { transaction, prepared, signed: await signTransaction(transaction, prepared, content.nonce, signer) };
}

const dynamic = ({ fees }: Content) => ({
  max_fee_per_gas: fees.max.toString(),
  max_priority_fee_per_gas: fees.tip.toString(),
});

for (const type of [0, 1, 2, 4] as const) {
  t.test(`ethers reads back what was signed, and would have encoded it the same: type ${type}`, async (t) => {
    const property = fc.asyncProperty(fc.record(common), async (content) => {
      const { transaction, prepared, signed } = await sign(content, type);
      const read = EthersTransaction.from(signed.raw);
      const shown = readChainFields(signed.fields)?.signature;
      const lists = (transaction.request as { access_list?: { address: string; storage_keys: string[] }[] })
        .access_list;
      const accesses = read.accessList?.map(({ address, storageKeys: keys }) => [address.toLowerCase(), keys]) ?? [];
      const authorized = read.authorizationList ?? [];
      const fields = readChainFields(prepared);
      return (
        read.type === type &&
        read.hash === signed.hash &&
        read.serialized === signed.raw &&
        fields !== undefined &&
        read.unsignedSerialized === unsignedBytes(transaction, fields, content.nonce) &&
        read.from?.toLowerCase() === from &&
        read.chainId === content.chainId &&
        read.nonce === Number(content.nonce) &&
        read.gasLimit === content.gasLimit &&
        (read.to?.toLowerCase() ?? null) === transaction.request['to'] &&
        read.value === content.value &&
        read.data === content.data &&
        (type < 2
          ? read.gasPrice === content.fees.max
          : read.maxFeePerGas === content.fees.max && read.maxPriorityFeePerGas === content.fees.tip) &&
        JSON.stringify(accesses) === JSON.stringify(lists?.map((one) => [one.address, one.storage_keys]) ?? []) &&
        authorized.length === (type === 4 ? content.authorities.length : 0) &&
        authorized.every((one, at) => {
          const [key, address, nonce] = content.authorities[at] ?? ['0x', '', 0n];
          const authority = new Wallet(key);
          const again = authority.authorizeSync({ address, nonce, chainId: one.chainId });
          return one.address.toLowerCase() === address && one.signature.serialized === again.signature.serialized;
        }) &&
        shown !== undefined &&
        `0x${shown.r}` === read.signature?.r &&
        `0x${shown.s}` === read.signature.s &&
        shown.v === (type === 0 ? read.signature.v : read.signature.yParity) &&
        shown.sig === `${shown.r}${shown.s}${shown.v.toString(16).padStart(2, '0')}`
      );
    });
    await fc.assert(property, { numRuns: runsOf(15) });
    t.pass('as many transactions as were drawn');
  });
}

t.test('an empty list makes no other type, and a request without the new fields is still signed', async (t) => {
  const content = fc.sample(fc.record(common), 1)[0];
  if (content === undefined) throw new Error('one sample');
  const prepared = { chain_id: 1, from, gas_limit: 21_000, gas_price: 1 };
  const body = { to: content.to, value: 1, access_list: [], gas_price: 1 };
  const transaction = storedTransaction(account, body);
  t.notOk('access_list' in transaction.request, 'as it was stored before there were lists');
  t.equal(EthersTransaction.from((await signTransaction(transaction, prepared, 0n, signer)).raw).type, 0);
});

t.test('s is low, and v of both kinds leads back to the account', async (t) => {
  const seen = new Set<number>();
  let wrong = 0;
  for (let nonce = 0; nonce < runsOf(40); nonce += 1) {
    for (const [price, base] of [
      [{ gas_price: 1 }, 27],
      [{ max_fee_per_gas: 1, max_priority_fee_per_gas: 0 }, 0],
    ] as const) {
      const transaction = storedTransaction(account, { to: from, value: nonce, ...price });
      const fields = { chain_id: 1, from, gas_limit: 21_000, ...price };
      const { raw, fields: after } = await signTransaction(transaction, fields, BigInt(nonce), signer);
      const shown = readChainFields(after)?.signature;
      seen.add(shown?.v ?? -1);
      const isLow = BigInt(`0x${shown?.s}`) <= HALF_ORDER;
      const v = (shown?.v ?? 0) - base;
      const read = EthersTransaction.from(raw);
      const isRight = read.signature?.yParity === v && (v === 0 || v === 1);
      if (!isLow || !isRight || read.from?.toLowerCase() !== from) wrong += 1;
    }
  }
  t.equal(wrong, 0);
  t.same(
    [...seen].sort((a, b) => a - b),
    [0, 1, 27, 28],
  );
});

t.test('nothing is signed that was not prepared, priced, or is another account’s', async (t) => {
  const transaction = storedTransaction(account, { to: from, value: 1, speed: 'fast' });
  const fields = { chain_id: 1, from, gas_limit: 21_000 };
  await t.rejects(signTransaction(transaction, {}, 0n, signer), TypeError);
  await t.rejects(signTransaction(transaction, fields, 0n, signer), TypeError);
  await t.rejects(signTransaction(transaction, { ...fields, max_fee_per_gas: 5 }, 0n, signer), TypeError);
  const foreign = { ...fields, gas_price: 1, from: `0x${'1'.repeat(40)}` };
  await t.rejects(signTransaction(transaction, foreign, 0n, signer), {
    code: 'SIGNER_FAILED',
    message: `Signer test failed: its key is that of ${from}, not of ${foreign.from}`,
  });
});

t.test('authorizations are never signed away into a transaction that cannot carry them', async (t) => {
  const other = Wallet.createRandom();
  const { r, s, yParity } = other.authorizeSync({ address: from, nonce: 0, chainId: 1 }).signature;
  const list = [{ chain_id: 1, address: from, nonce: 0, y_parity: yParity, r, s }];
  const transaction = storedTransaction(account, { to: from, value: 1, speed: 'fast', authorization_list: list });
  const fields = { chain_id: 1, from, gas_limit: 100_000, gas_price: 1 };
  await t.rejects(signTransaction(transaction, fields, 0n, signer), TypeError);
});

t.test('a digest is signed by the account’s own key only; v has two digits in the whole', async (t) => {
  const digest = randomBytes(32);
  t.match(await signDigestForAccount(digest, from, signer), { r: /^[0-9a-f]{64}$/, s: /^[0-9a-f]{64}$/ });
  await t.rejects(signDigestForAccount(digest, `0x${'2'.repeat(40)}`, signer), { code: 'SIGNER_FAILED' });
  t.same(signatureView('aa', 'bb', 1), { r: 'aa', s: 'bb', v: 1, sig: 'aabb01' });
  t.equal(signatureView('aa', 'bb', 28).sig, 'aabb1c');
});

t.test('message', async (t) => {
  const signer = createKeySigner('test', randomBytes(32));
  const address = addressOfPublicKey(await signer.publicKey('secp256k1'));
  const account = { address, policies: {} };
  const EMPTY_HASH = `0x${'00'.repeat(32)}`;

  t.test('a text is signed as its UTF-8 bytes, whatever it looks like', async (t) => {
    const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('', '0x1234', 'ä€😀', '\u0000\n'));
    const property = fc.asyncProperty(text, async (message) => {
      const { r, s, v, sig } = await signMessage({ message }, account, signer);
      const isForm = /^[0-9a-f]{130}$/.test(String(sig)) && (v === 27 || v === 28);
      const isWhole = sig === `${r}${s}${Number(v).toString(16)}`;
      return isForm && isWhole && verifyMessage(message, `0x${sig}`).toLowerCase() === address;
    });
    await fc.assert(property, { numRuns: runsOf(200) });
    t.same(Object.keys(await signMessage({ message: 'x' }, account, signer)), ['r', 's', 'v', 'sig']);
  });

  t.test('what is no text', async (t) => {
    for (const [body, said] of [
      [{}, 'missing field `message`'],
      [{ message: 5 }, 'invalid `message`: expected a string, not a number'],
      [{ message: '\ud800' }, 'invalid `message`: expected a text that UTF-8 can hold'],
      [{ message: 'x', massage: 'y' }, 'unknown field `massage`, did you mean `message`?'],
      [[], 'expected an object, not a list'],
      [null, 'expected an object, not null'],
    ] as const) {
      await t.rejects(signMessage(body, account, signer), { code: 'INVALID_REQUEST', status: 400, message: said });
    }
  });

  t.test('typed data lead back to the account, given either way', async (t) => {
    const domain = { name: 'Test', version: '1', chainId: 1, verifyingContract: address };
    const types = { Vote: [{ name: 'choice', type: 'uint256' }] };
    const message = { choice: '115792089237316195423570985008687907853269984665640564039457584007913129639935' };
    const whole = await signTypedData({ domain, types, primaryType: 'Vote', message }, account, signer);
    t.equal(verifyTypedData(domain, types, message, `0x${whole['sig']}`).toLowerCase(), address);
    const digests = {
      domain_separator: TypedDataEncoder.hashDomain(domain),
      hash_struct_message: TypedDataEncoder.hashStruct('Vote', types, message).slice(2),
    };
    t.same(await signTypedData(digests, account, signer), whole);
  });

  t.test('another account’s signer signs neither', async (t) => {
    const other = { address: `0x${'1'.repeat(40)}`, policies: {} };
    const digests = { domain_separator: EMPTY_HASH, hash_struct_message: EMPTY_HASH };
    await t.rejects(signMessage({ message: 'x' }, other, signer), { code: 'SIGNER_FAILED' });
    await t.rejects(signTypedData(digests, other, signer), { code: 'SIGNER_FAILED' });
  });
});

t.test('sign only', async (t) => {
  const signer = createKeySigner('test', randomBytes(32));
  const address = addressOfPublicKey(await signer.publicKey('secp256k1'));
  const TO = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  const LEGACY = { to: TO, value: '7', nonce: '18446744073709551614', gas_limit: 21_000, gas_price: 9 };

  const sign = (body: unknown, policies: JsonObject = {}, identity: string | undefined = '31337') =>
    signOnlyTransaction(body, { address, policies, identity }, signer, null);

  t.test('a legacy transaction with the highest nonce that there is', async (t) => {
    const signed = await sign(LEGACY);
    const read = EthersTransaction.from(String((await sign({ ...LEGACY, nonce: 5 }))['transaction']));
    t.match(read, { type: 0, nonce: 5, gasPrice: 9n, gasLimit: 21_000n, value: 7n, chainId: 31_337n });
    t.equal(read.from?.toLowerCase(), address);
    t.match(signed, { nonce: (1n << 64n) - 2n, chain_id: 31_337n, gas_price: '9', max_fee_per_gas: null, to: TO });
    t.match(signed['signature'], { r: /^[0-9a-f]{64}$/, s: /^[0-9a-f]{64}$/, sig: /^[0-9a-f]{128}1[bc]$/ });
  });

  t.test('a dynamic one is lowered to the cap, and the answer says what was signed', async (t) => {
    const body = {
      to: TO,
      value: 0,
      nonce: 0,
      gas_limit: '21000',
      max_fee_per_gas: '50',
      max_priority_fee_per_gas: 40,
    };
    const signed = await sign(body, { gas_price_cap: 30 });
    t.match(signed, { gas_price: null, max_fee_per_gas: '30', max_priority_fee_per_gas: '30', gas_limit: 21_000n });
    const read = EthersTransaction.from(String(signed['transaction']));
    t.match(read, { type: 2, maxFeePerGas: 30n, maxPriorityFeePerGas: 30n, hash: signed['hash'] });
  });

  t.test('policies hold as they do for sending', async (t) => {
    const listed = { whitelist_receivers: [`0x${'c'.repeat(40)}`] };
    for (const [body, policies, said] of [
      [LEGACY, listed, 'Transaction target address is not whitelisted'],
      [LEGACY, { gas_price_cap: 8 }, 'Gas price is too high'],
      [LEGACY, { private_transactions: true }, /signs only what it sends/],
      [{ ...LEGACY, gas_limit: 20_999 }, {}, /intrinsic gas is 21000 and gas_limit is 20999/],
    ] as const) {
      await t.rejects(sign(body, policies as JsonObject), { code: 'INVALID_REQUEST', message: said });
    }
    t.ok(await sign({ ...LEGACY, to: `0x${'C'.repeat(40)}` }, listed));
  });

  t.test('what is missing, and what has no meaning without a network', async (t) => {
    const { gas_price: _, ...unpriced } = LEGACY;
    const otherFamily =
      'EVM relayers sign a send request with nonce, gas_limit and a price; unsigned_xdr and transaction are for other network types';
    for (const [body, said] of [
      [{}, 'missing field `nonce`'],
      [{ ...LEGACY, nonce: undefined }, /^invalid `nonce`/],
      [{ ...LEGACY, nonce: '18446744073709551615' }, /^invalid `nonce`/],
      [{ ...LEGACY, nonce: -1 }, /^invalid `nonce`/],
      [{ ...LEGACY, nonce: null }, /^invalid `nonce`/],
      [{ ...unpriced, gas_limit: null, speed: 'fast' }, /^invalid `gas_limit`/],
      [{ ...unpriced, speed: 'fast' }, /^`speed` needs a network/],
      [unpriced, /must specify either/],
      [{ ...LEGACY, valid_until: '2099-01-01T00:00:00Z' }, /^`valid_until` cannot be kept/],
      [{ ...LEGACY, blobs: [] }, /blob transactions \(EIP-4844\) are not supported$/],
      [{ unsigned_xdr: 'AAAA' }, otherFamily],
      [{ ...LEGACY, transaction: 'AQID' }, otherFamily],
      [{ ...LEGACY, abi: ['error No()'] }, /^`abi` has no use/],
      [{ ...LEGACY, gasPrice: 5 }, 'unknown field `gasPrice`, did you mean `gas_price`?'],
      ['text', 'expected an object, not a string'],
    ] as const) {
      await t.rejects(sign(body), { code: 'INVALID_REQUEST', message: said });
    }
  });

  t.test('the chain is the pinned one, else the declared one, and never a guess', async (t) => {
    const chainOf = async (identity: string | undefined, declared: bigint | null) =>
      (await signOnlyTransaction(LEGACY, { address, policies: {}, identity }, signer, declared))['chain_id'];
    t.equal(await chainOf('5', 6n), 5n);
    t.equal(await chainOf(undefined, 6n), 6n);
    await t.rejects(chainOf(undefined, null), { code: 'RELAYER_DISABLED' });
  });
});

t.test('typed data', async (t) => {
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
    const typed = (type: string, yes: unknown) => ({
      ...base,
      types: { A: [{ name: 'yes', type }] },
      message: { yes },
    });
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

  t.test(
    'types that are too wide and lists that are too long are refused, and the longest list is hashed',
    async (t) => {
      const layer = (index: number) =>
        [0, 1, 2].map((column) => ({ name: `f${column}`, type: `L${index + 1}c${column}` }));
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
    },
  );

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
    t.throws(() => digest({ ...base, types: {}, message: { x: 'x'.repeat(70_000) } }), {
      message: /longer than 65536/,
    });
    t.throws(() => digest({ ...list, message: { all: Array.from({ length: 1_500 }, () => 0) } }), {
      message: '`message` does not fit its type: a struct is of another kind',
    });
  });
});
