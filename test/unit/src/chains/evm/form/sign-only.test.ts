import { randomBytes } from 'node:crypto';
import { Transaction as EthersTransaction } from 'ethers';
import t from 'tap';
import { addressOf } from '../../../../../../src/chains/evm/address.ts';
import { signUnsent } from '../../../../../../src/chains/evm/form/sign-only.ts';
import type { JsonObject } from '../../../../../../src/domain/json/json.ts';
import { createKeySigner } from '../../../../../../src/signers/held-key.ts';

const signer = createKeySigner('test', randomBytes(32));
const address = addressOf(await signer.publicKey('secp256k1'));
const TO = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
const LEGACY = { to: TO, value: '7', nonce: '18446744073709551614', gas_limit: 21_000, gas_price: 9 };

const sign = (body: unknown, policies: JsonObject = {}, identity: string | undefined = '31337') =>
  signUnsent(body, { address, policies, identity }, signer, null);

t.test('a legacy transaction with the highest nonce that there is', async (t) => {
  const signed = await sign(LEGACY);
  const read = EthersTransaction.from(String((await sign({ ...LEGACY, nonce: 5 }))['transaction']));
  t.match(read, { type: 0, nonce: 5, gasPrice: 9n, gasLimit: 21_000n, value: 7n, chainId: 31_337n });
  t.equal(read.from?.toLowerCase(), address);
  t.match(signed, { nonce: (1n << 64n) - 2n, chain_id: 31_337n, gas_price: '9', max_fee_per_gas: null, to: TO });
  t.match(signed['signature'], { r: /^[0-9a-f]{64}$/, s: /^[0-9a-f]{64}$/, sig: /^[0-9a-f]{128}1[bc]$/ });
});

t.test('a dynamic one is lowered to the cap, and the answer says what was signed', async (t) => {
  const body = { to: TO, value: 0, nonce: 0, gas_limit: '21000', max_fee_per_gas: '50', max_priority_fee_per_gas: 40 };
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
    (await signUnsent(LEGACY, { address, policies: {}, identity }, signer, declared))['chain_id'];
  t.equal(await chainOf('5', 6n), 5n);
  t.equal(await chainOf(undefined, 6n), 6n);
  await t.rejects(chainOf(undefined, null), { code: 'RELAYER_DISABLED' });
});
