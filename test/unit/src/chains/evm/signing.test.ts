import { randomBytes } from 'node:crypto';
import { Transaction as EthersTransaction, Wallet } from 'ethers';
import t from 'tap';
import { addressOf } from '../../../../../src/chains/evm/address.ts';
import { readFields } from '../../../../../src/chains/evm/schema.ts';
import { shownSignature, signDigest, signTransaction, unsignedBytes } from '../../../../../src/chains/evm/signing.ts';
import { createKeySigner } from '../../../../../src/signers/held-key.ts';
import { storedTransaction } from '../../../../support/evm.ts';
import { fc, runsOf } from '../../../../support/properties.ts';

const signer = createKeySigner('test', randomBytes(32));
const from = addressOf(await signer.publicKey('secp256k1'));
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
      const shown = readFields(signed.fields)?.signature;
      const lists = (transaction.request as { access_list?: { address: string; storage_keys: string[] }[] })
        .access_list;
      const accesses = read.accessList?.map(({ address, storageKeys: keys }) => [address.toLowerCase(), keys]) ?? [];
      const authorized = read.authorizationList ?? [];
      const fields = readFields(prepared);
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
      const shown = readFields(after)?.signature;
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
  t.match(await signDigest(digest, from, signer), { r: /^[0-9a-f]{64}$/, s: /^[0-9a-f]{64}$/ });
  await t.rejects(signDigest(digest, `0x${'2'.repeat(40)}`, signer), { code: 'SIGNER_FAILED' });
  t.same(shownSignature('aa', 'bb', 1), { r: 'aa', s: 'bb', v: 1, sig: 'aabb01' });
  t.equal(shownSignature('aa', 'bb', 28).sig, 'aabb1c');
});
