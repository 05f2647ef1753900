import { Address, Asset, Claimant, Operation, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import {
  consentedLumens,
  lumensOutflow,
  operationOutflow,
} from '../../../../../../src/chains/stellar/message/outflow.ts';
import { address, i128, invoke } from '../../../../../support/stellar-contract-scene.ts';
import { CLIENT, OTHER, payOp } from '../../../../../support/stellar-envelopes.ts';
import { PASSPHRASE, RELAYER } from '../../../../../support/stellar-relayer.ts';

t.test('lumens', async (t) => {
  const XLM = Asset.native();
  const USD = new Asset('USD', OTHER.publicKey());
  const destination = OTHER.publicKey();

  const taken = (...operations: xdr.Operation[]) =>
    lumensOutflow({ source: RELAYER.xdrMuxedAccount(), operations }, RELAYER.publicKey());

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
      [
        'passive offer',
        Operation.createPassiveSellOffer({ selling: XLM, buying: USD, amount: '7', price }),
        70_000_000n,
      ],
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
    t.equal(consentedLumens([consent(transfer)], PASSPHRASE), 7n);
    const deep = invocation(USD.contractId(PASSPHRASE), 'transfer', 5n, [transfer, invocation(lumens, 'approve', 2n)]);
    t.equal(consentedLumens([consent(deep), consent(transfer)], PASSPHRASE), 16n);
    t.equal(consentedLumens([consent(transfer, others)], PASSPHRASE), 0n, 'somebody else');
    t.equal(consentedLumens([consent(invocation(lumens, 'transfer', -7n))], PASSPHRASE), 0n);
    t.equal(consentedLumens([consent(invocation(lumens, 'balance', 7n))], PASSPHRASE), 0n);
    t.end();
  });
});

t.test('taken', async (t) => {
  const USD = new Asset('USD', OTHER.publicKey());
  const XLM = Asset.native();
  const destination = OTHER.publicKey();
  const ALL = 2n ** 63n;
  const CONTRACT = 'CDLZFC3SYJYDZT7K67VZ75HPJVIEUVNIXF47ZG2FB2RMQQVU2HHGCYSC';
  const price = { n: 3, d: 2 };

  t.test('an operation counts with the most that it moves, of whatever asset', (t) => {
    const claimants = [new Claimant(destination)];
    const bounds = { minPrice: '1', maxPrice: '1' };
    const cases: [string, xdr.Operation, bigint][] = [
      ['lumens', payOp('0.0000005'), 5n],
      ['an asset', Operation.payment({ destination, asset: USD, amount: '0.0000006' }), 6n],
      ['createAccount', Operation.createAccount({ destination, startingBalance: '0.0000007' }), 7n],
      [
        'strict send',
        Operation.pathPaymentStrictSend({ sendAsset: USD, sendAmount: '1', destination, destAsset: XLM, destMin: '1' }),
        10_000_000n,
      ],
      [
        'strict receive',
        Operation.pathPaymentStrictReceive({
          sendAsset: USD,
          sendMax: '2',
          destination,
          destAsset: XLM,
          destAmount: '1',
        }),
        20_000_000n,
      ],
      ['claimable', Operation.createClaimableBalance({ asset: USD, amount: '3', claimants }), 30_000_000n],
      ['sell', Operation.manageSellOffer({ selling: USD, buying: XLM, amount: '4', price }), 40_000_000n],
      ['passive', Operation.createPassiveSellOffer({ selling: USD, buying: XLM, amount: '5', price }), 50_000_000n],
      ['buy', Operation.manageBuyOffer({ selling: USD, buying: XLM, buyAmount: '0.0000003', price }), 5n],
      [
        'pool',
        Operation.liquidityPoolDeposit({
          liquidityPoolId: '00'.repeat(32),
          maxAmountA: '1',
          maxAmountB: '2',
          ...bounds,
        }),
        30_000_000n,
      ],
      ['a sequence', Operation.bumpSequence({ bumpTo: '5' }), 0n],
      ['a trust line', Operation.changeTrust({ asset: USD }), 0n],
      ['a domain', Operation.setOptions({ homeDomain: 'a' }), 0n],
      ['code', Operation.uploadContractWasm({ wasm: Buffer.alloc(4) }), 0n],
    ];
    for (const [name, operation, most] of cases) t.equal(operationOutflow(operation.body), most, name);
    const backwards = new xdr.PaymentOp({
      destination: OTHER.xdrMuxedAccount(),
      asset: XLM.toXdrObject(),
      amount: -5n,
    });
    t.equal(operationOutflow(xdr.OperationBody.payment(backwards)), 0n, 'nothing is earned by it');
    t.end();
  });

  t.test('what nobody can tell, and what gives power away, is all there is', (t) => {
    const signer = { ed25519PublicKey: destination, weight: 1 };
    const cases: [string, xdr.Operation][] = [
      ['a signer', Operation.setOptions({ signer })],
      ['a weight', Operation.setOptions({ masterWeight: 0 })],
      ['a threshold', Operation.setOptions({ medThreshold: 5 })],
      ['a call', Operation.invokeContractFunction({ contract: CONTRACT, function: 'transfer', args: [] })],
      ['an end', Operation.accountMerge({ destination })],
      ['a sponsorship', Operation.beginSponsoringFutureReserves({ sponsoredId: destination })],
    ];
    for (const [name, operation] of cases) t.equal(operationOutflow(operation.body), ALL, name);
    t.end();
  });
});
