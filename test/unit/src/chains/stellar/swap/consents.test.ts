import { xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { addressValue, amountValue, callOf } from '../../../../../../src/chains/stellar/message/contract-call.ts';
import { consentFault } from '../../../../../../src/chains/stellar/swap/consents.ts';
import { CLIENT } from '../../../../../support/stellar-envelopes.ts';
import { RELAYER } from '../../../../../support/stellar-relayer.ts';
import { NATIVE, ROUTER, TOKEN } from '../../../../../support/stellar-swap-scene.ts';

const [relayer, somebody] = [RELAYER.publicKey(), CLIENT.publicKey()];
const given = { relayer, token: TOKEN, amount: 1_000n };

function invocation(contract: string, name: string, args: xdr.ScVal[], below: xdr.SorobanAuthorizedInvocation[] = []) {
  const { body } = callOf(contract, name, args);
  const asked = body.type === 'invokeHostFunction' ? body.invokeHostFunctionOp.hostFunction : undefined;
  if (asked?.type !== 'hostFunctionTypeInvokeContract') throw new Error('it is a call');
  return new xdr.SorobanAuthorizedInvocation({
    function: xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(asked.invokeContract),
    subInvocations: below,
  });
}

const transfer = ({
  token = TOKEN,
  from = relayer,
  amount = 1_000n,
  below = [] as xdr.SorobanAuthorizedInvocation[],
}) => invocation(token, 'transfer', [addressValue(from), addressValue(ROUTER), amountValue(amount)], below);

const own: xdr.SorobanCredentials = xdr.SorobanCredentials.sorobanCredentialsSourceAccount();
const consent = (below: xdr.SorobanAuthorizedInvocation[], credentials: xdr.SorobanCredentials = own) =>
  new xdr.SorobanAuthorizationEntry({ credentials, rootInvocation: invocation(ROUTER, 'swap', [], below) }).toXdr(
    'base64',
  );

t.test('one transfer of the token, of what is given, is consented to', async (t) => {
  t.equal(consentFault([consent([transfer({})])], given), undefined);
});

t.test('and nothing else', async (t) => {
  const other = xdr.SorobanCredentials.sorobanCredentialsAddress(
    new xdr.SorobanAddressCredentials({
      address: xdr.ScAddress.scAddressTypeAccount(CLIENT.xdrAccountId()),
      nonce: 1n,
      signatureExpirationLedger: 5,
      signature: xdr.ScVal.scvVoid(),
    }),
  );
  const approve = invocation(TOKEN, 'approve', [addressValue(relayer), addressValue(ROUTER), amountValue(1_000n)]);
  const good = consent([transfer({})]);
  for (const [what, consents, fault] of [
    ['none', [], /needs 0 consents/],
    ['two', [good, good], /needs 2 consents/],
    ['of somebody else', [consent([transfer({})], other)], /somebody else’s consent/],
    ['no transfer', [consent([])], /takes nothing/],
    ['two transfers', [consent([transfer({}), transfer({ token: NATIVE })])], /more than one transfer/],
    ['one below', [consent([transfer({ below: [transfer({ token: NATIVE })] })])], /more than one transfer/],
    ['an allowance', [consent([approve])], /calls approve/],
    ['another token', [consent([transfer({ token: NATIVE })])], /not the token’s transfer/],
    ['somebody’s', [consent([transfer({ from: somebody })])], /from somebody else/],
    ['more', [consent([transfer({ amount: 1_001n })])], /another amount than 1000/],
  ] as const) {
    t.match(consentFault(consents, given), fault, what);
  }
});
