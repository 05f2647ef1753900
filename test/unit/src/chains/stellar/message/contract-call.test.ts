import { nativeToScVal, scValToNative, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import {
  addressValue,
  amountOfValue,
  amountValue,
  callOf,
  listValue,
} from '../../../../../../src/chains/stellar/message/contract-call.ts';
import { TOKEN } from '../../../../../support/stellar-swap-scene.ts';

t.test('a call is what Stellar’s library makes of it', async (t) => {
  const call = callOf(TOKEN, 'transfer', [addressValue(TOKEN), amountValue(7n)]);
  const body = call.body.type === 'invokeHostFunction' ? call.body.invokeHostFunctionOp : undefined;
  t.equal(body?.hostFunction.type, 'hostFunctionTypeInvokeContract');
  t.strictSame(body?.auth, []);
  t.strictSame(scValToNative(listValue([addressValue(TOKEN), amountValue(2n ** 100n)])), [TOKEN, 2n ** 100n]);
});

t.test('an amount is one of a token, and nothing else', async (t) => {
  for (const amount of [0n, 1n, 2n ** 127n - 1n]) t.equal(amountOfValue(amountValue(amount)), amount);
  for (const none of [amountValue(-1n), nativeToScVal(5n, { type: 'u128' }), xdr.ScVal.scvVoid(), null, undefined]) {
    t.throws(() => amountOfValue(none), TypeError);
  }
});
