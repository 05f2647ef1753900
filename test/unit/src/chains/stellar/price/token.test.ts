import { xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { amountValue } from '../../../../../../src/chains/stellar/message/contract-call.ts';
import { askContract, isToken, tokenBalance } from '../../../../../../src/chains/stellar/price/token.ts';
import { RELAYER } from '../../../../../support/stellar-relayer.ts';
import { nodeWith, TOKEN } from '../../../../../support/stellar-swap-scene.ts';

const relayer = RELAYER.publicKey();

t.test('a token tells what somebody has, and how it is divided', async (t) => {
  const node = nodeWith({
    balance: ([who]) => ({ value: amountValue(who === relayer ? 9n : 0n) }),
    decimals: () => ({ value: xdr.ScVal.scvU32(7) }),
  });
  t.equal(await tokenBalance(node, TOKEN, relayer), 9n);
  t.ok(await isToken(node, TOKEN, relayer));
});

t.test('what fails or tells something else is no token, and nothing of it is held', async (t) => {
  t.equal(await tokenBalance(nodeWith({}), TOKEN, relayer), 0n);
  t.notOk(await isToken(nodeWith({}), TOKEN, relayer));
  t.notOk(await isToken(nodeWith({ decimals: () => ({ value: amountValue(7n) }) }), TOKEN, relayer));
  const odd = nodeWith({ balance: () => ({ value: xdr.ScVal.scvU32(7) }) });
  await t.rejects(tokenBalance(odd, TOKEN, relayer), TypeError);
  const asked = { contract: TOKEN, name: 'fails', args: [] };
  t.match(await askContract(nodeWith({ fails: () => 'why' }), relayer, asked), /simulation failed: .* why$/);
});
