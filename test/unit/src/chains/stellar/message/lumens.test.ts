import { Address, Asset, Claimant, Operation, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { lumensConsented, lumensTaken } from '../../../../../../src/chains/stellar/message/lumens.ts';
import { address, i128, invoke } from '../../../../../support/stellar-contract-scene.ts';
import { CLIENT, OTHER, payOp } from '../../../../../support/stellar-envelopes.ts';
import { PASSPHRASE, RELAYER } from '../../../../../support/stellar-relayer.ts';

const XLM = Asset.native();
const USD = new Asset('USD', OTHER.publicKey());
const destination = OTHER.publicKey();

const taken = (...operations: xdr.Operation[]) =>
  lumensTaken({ source: RELAYER.xdrMuxedAccount(), operations }, RELAYER.publicKey());

t.test('every operation that can take lumens is counted at its most', (t) => {
  const price = { n: 3, d: 2 };
  const claimants = [new Claimant(destination)];
  const pool = '00'.repeat(32);
  const bounds = { minPrice: '1', maxPrice: '1' };
  const cases: [string, xdr.Operation, bigint][] = [
    ['payment', payOp('1'), 10_000_000n],
    ['createAccount', Operation.createAccount({ destination, startingBalance: '2' }), 20_000_000n],
    [
      'strict send',
      Operation.pathPaymentStrictSend({ sendAsset: XLM, sendAmount: '3', destination, destAsset: USD, destMin: '1' }),
      30_000_000n,
    ],
    [
      'strict receive',
      Operation.pathPaymentStrictReceive({
        sendAsset: XLM,
        sendMax: '4',
        destination,
        destAsset: USD,
        destAmount: '1',
      }),
      40_000_000n,
    ],
    ['claimable balance', Operation.createClaimableBalance({ asset: XLM, amount: '5', claimants }), 50_000_000n],
    ['sell offer', Operation.manageSellOffer({ selling: XLM, buying: USD, amount: '6', price }), 60_000_000n],
    ['passive offer', Operation.createPassiveSellOffer({ selling: XLM, buying: USD, amount: '7', price }), 70_000_000n],
    ['buy offer', Operation.manageBuyOffer({ selling: XLM, buying: USD, buyAmount: '0.0000003', price }), 5n],
    [
      'pool',
      Operation.liquidityPoolDeposit({ liquidityPoolId: pool, maxAmountA: '8', maxAmountB: '9', ...bounds }),
      80_000_000n,
    ],
    ['another asset', Operation.payment({ destination, asset: USD, amount: '9' }), 0n],
    ['nothing', Operation.bumpSequence({ bumpTo: '5' }), 0n],
  ];
  for (const [name, operation, most] of cases) t.equal(taken(operation), most, name);
  t.equal(taken(payOp('1'), payOp('2')), 30_000_000n);
  t.end();
});

t.test('what others pay is not the account’s', (t) => {
  t.equal(taken(payOp('1', CLIENT), payOp('2', RELAYER)), 20_000_000n);
  t.end();
});

t.test('what contracts may take of it is what it consents to, at any depth', (t) => {
  const lumens = XLM.contractId(PASSPHRASE);
  const invocation = (
    contract: string,
    name: string,
    amount: bigint,
    below: xdr.SorobanAuthorizedInvocation[] = [],
  ) => {
    const { body } = invoke(contract, name, address(RELAYER), address(OTHER), i128(amount));
    if (body.type !== 'invokeHostFunction') throw new Error('a call');
    const { hostFunction } = body.invokeHostFunctionOp;
    if (hostFunction.type !== 'hostFunctionTypeInvokeContract') throw new Error('a call');
    return new xdr.SorobanAuthorizedInvocation({
      function: xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(hostFunction.invokeContract),
      subInvocations: below,
    });
  };
  const consent = (rootInvocation: xdr.SorobanAuthorizedInvocation, by: xdr.SorobanCredentials = OWN) =>
    new xdr.SorobanAuthorizationEntry({ credentials: by, rootInvocation });
  const OWN = xdr.SorobanCredentials.sorobanCredentialsSourceAccount();
  const others = xdr.SorobanCredentials.sorobanCredentialsAddress(
    new xdr.SorobanAddressCredentials({
      address: new Address(OTHER.publicKey()).toScAddress(),
      nonce: 1n,
      signatureExpirationLedger: 9,
      signature: xdr.ScVal.scvVoid(),
    }),
  );
  const transfer = invocation(lumens, 'transfer', 7n);
  t.equal(lumensConsented([consent(transfer)], PASSPHRASE), 7n);
  const deep = invocation(USD.contractId(PASSPHRASE), 'transfer', 5n, [transfer, invocation(lumens, 'approve', 2n)]);
  t.equal(lumensConsented([consent(deep), consent(transfer)], PASSPHRASE), 16n);
  t.equal(lumensConsented([consent(transfer, others)], PASSPHRASE), 0n, 'somebody else');
  t.equal(lumensConsented([consent(invocation(lumens, 'transfer', -7n))], PASSPHRASE), 0n);
  t.equal(lumensConsented([consent(invocation(lumens, 'balance', 7n))], PASSPHRASE), 0n);
  t.end();
});
