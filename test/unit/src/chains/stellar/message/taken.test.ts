import { Asset, Claimant, Operation, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { amountsTaken } from '../../../../../../src/chains/stellar/message/taken.ts';
import { OTHER, payOp } from '../../../../../support/stellar-envelopes.ts';

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
      Operation.liquidityPoolDeposit({ liquidityPoolId: '00'.repeat(32), maxAmountA: '1', maxAmountB: '2', ...bounds }),
      30_000_000n,
    ],
    ['a sequence', Operation.bumpSequence({ bumpTo: '5' }), 0n],
    ['a trust line', Operation.changeTrust({ asset: USD }), 0n],
    ['a domain', Operation.setOptions({ homeDomain: 'a' }), 0n],
    ['code', Operation.uploadContractWasm({ wasm: Buffer.alloc(4) }), 0n],
  ];
  for (const [name, operation, most] of cases) t.equal(amountsTaken(operation.body), most, name);
  const backwards = new xdr.PaymentOp({
    destination: OTHER.xdrMuxedAccount(),
    asset: XLM.toXdrObject(),
    amount: -5n,
  });
  t.equal(amountsTaken(xdr.OperationBody.payment(backwards)), 0n, 'nothing is earned by it');
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
  for (const [name, operation] of cases) t.equal(amountsTaken(operation.body), ALL, name);
  t.end();
});
