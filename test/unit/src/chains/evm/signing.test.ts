import { randomBytes } from 'node:crypto';
import { Transaction as EthersTransaction } from 'ethers';
import fc from 'fast-check';
import t from 'tap';
import { addressOf } from '../../../../../src/chains/evm/address.ts';
import { signTransaction } from '../../../../../src/chains/evm/signing.ts';
import { createKeySigner } from '../../../../../src/signers/key-signer.ts';
import { storedTransaction } from '../../../../support/evm.ts';

const signer = createKeySigner('test', randomBytes(32));
const from = addressOf(await signer.publicKey('secp256k1'));
const account = { address: from, policies: {} };

const uint = (bits: number) => fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n });
const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((b) => Buffer.from(b).toString('hex'));
const common = {
  chainId: uint(62).filter((id) => id > 0n),
  nonce: uint(53),
  gasLimit: uint(64).map((gas) => (gas < 1_000_000n ? 1_000_000n : gas)),
  to: fc.option(hex(20).map((digits) => `0x${digits}`)),
  value: uint(256),
  data: fc.uint8Array({ maxLength: 200 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
};

t.test('ethers reads back what was signed, of either type', async (t) => {
  const prices = fc.oneof(
    uint(128).map((gasPrice) => ({ type: 0, gasPrice })),
    fc.tuple(uint(128), uint(128)).map(([a, b]) => ({
      type: 2,
      maxFeePerGas: a > b ? a : b,
      maxPriorityFeePerGas: a > b ? b : a,
    })),
  );
  const property = fc.asyncProperty(fc.record(common), prices, async (content, price) => {
    const transaction = storedTransaction(account, {
      to: content.to,
      value: content.value.toString(),
      data: content.data,
      speed: 'fast',
    });
    const fees =
      'gasPrice' in price
        ? { gas_price: price.gasPrice.toString() }
        : {
            max_fee_per_gas: price.maxFeePerGas.toString(),
            max_priority_fee_per_gas: price.maxPriorityFeePerGas.toString(),
          };
    const prepared = { chain_id: content.chainId.toString(), from, gas_limit: content.gasLimit.toString(), ...fees };
    const signed = await signTransaction(transaction, prepared, content.nonce, signer);

    const read = EthersTransaction.from(signed.raw);
    const shown = signed.fields['signature'] as { r: string; s: string; v: number; sig: string };
    const expectedV = price.type === 2 ? read.signature?.yParity : read.signature?.v;
    return (
      read.hash === signed.hash &&
      read.serialized === signed.raw &&
      read.from?.toLowerCase() === from &&
      read.type === price.type &&
      read.chainId === content.chainId &&
      read.nonce === Number(content.nonce) &&
      read.gasLimit === content.gasLimit &&
      (read.to?.toLowerCase() ?? null) === content.to &&
      read.value === content.value &&
      read.data === content.data &&
      ('gasPrice' in price
        ? read.gasPrice === price.gasPrice
        : read.maxFeePerGas === price.maxFeePerGas && read.maxPriorityFeePerGas === price.maxPriorityFeePerGas) &&
      `0x${shown.r}` === read.signature?.r &&
      `0x${shown.s}` === read.signature.s &&
      shown.v === expectedV &&
      shown.sig === `${shown.r}${shown.s}${shown.v.toString(16).padStart(2, '0')}`
    );
  });
  await fc.assert(property, { numRuns: 300 });
  t.pass('300 transactions');
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
