import { xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import {
  classifyBroadcastError,
  contractErrorIn,
  failureReason,
  isAcceptedSend,
  sendRefusalIn,
} from '../../../../../src/chains/stellar/errors.ts';
import { RpcError } from '../../../../../src/egress/rpc/rpc-client.ts';

const resultOf = (result: xdr.TransactionResultResult) =>
  new xdr.TransactionResult({ feeCharged: 100n, result, ext: xdr.TransactionResultExt.v0() }).toXdr('base64');
const Result = xdr.TransactionResultResult;
const refused = (result: xdr.TransactionResultResult) =>
  sendRefusalIn({ hash: 'h', status: 'ERROR', errorResultXdr: resultOf(result) }, 'h');

t.test('a node has it, or has had it already', (t) => {
  t.ok(isAcceptedSend({ hash: 'h', status: 'PENDING' }, 'h'));
  t.ok(isAcceptedSend({ hash: 'h', status: 'DUPLICATE' }, 'h'));
  t.notOk(isAcceptedSend({ hash: 'another', status: 'PENDING' }, 'h'));
  t.notOk(isAcceptedSend({ hash: 'h', status: 'ERROR' }, 'h'));
  t.notOk(isAcceptedSend({ hash: 'h', status: 'SOMETHING_NEW' }, 'h'));
  t.notOk(isAcceptedSend('PENDING', 'h'));
  t.equal(sendRefusalIn({ hash: 'h', status: 'PENDING' }, 'h'), undefined);
  t.equal(sendRefusalIn({ hash: 'another', status: 'ERROR' }, 'h'), undefined, 'not about these bytes');
  t.end();
});

t.test('what nodes refuse, by what it means', (t) => {
  const cases: [xdr.TransactionResultResult, string][] = [
    [Result.txBadSeq(), 'anchor-used'],
    [Result.txTooLate(), 'lapsed'],
    [Result.txTooEarly(), 'busy'],
    [Result.txInsufficientFee(), 'fee-too-low'],
    [Result.txInsufficientBalance(), 'unfunded'],
    [Result.txNoAccount(), 'unfunded'],
    [Result.txInternalError(), 'busy'],
    [Result.txBadAuth(), 'refused'],
    [Result.txBadAuthExtra(), 'refused'],
    [Result.txMalformed(), 'refused'],
    [Result.txMissingOperation(), 'refused'],
  ];
  for (const [result, kind] of cases) t.match(refused(result), { outcome: { kind }, hasJudged: true }, result.type);
  t.match(refused(Result.txBadSeq()), { outcome: { reason: 'TxBadSeq' } });
  t.match(refused(Result.txInsufficientFee()), { outcome: { reason: 'TxInsufficientFee: 100 stroops are required' } });
  const unsigned = Result.txFailed([xdr.OperationResult.opBadAuth()]);
  t.match(refused(unsigned), { outcome: { kind: 'refused', reason: 'TxFailed op=OpBadAuth' } });
  t.match(sendRefusalIn({ hash: 'h', status: 'TRY_AGAIN_LATER' }, 'h'), { outcome: { kind: 'busy' }, hasJudged: true });
  t.match(sendRefusalIn({ hash: 'h', status: 'ERROR', errorResultXdr: '!' }, 'h'), { outcome: { kind: 'unknown' } });
  t.match(sendRefusalIn({ hash: 'h', status: 'ERROR' }, 'h'), { outcome: { kind: 'unknown' } });
  t.end();
});

t.test('a call that failed may have had its effect, unless it was turned away', (t) => {
  t.match(classifyBroadcastError(new RpcError('http', 'limited', { status: 429 })), { outcome: { kind: 'busy' } });
  t.match(classifyBroadcastError(new RpcError('limited', 'left alone')), {
    outcome: { kind: 'busy' },
    hasJudged: false,
  });
  for (const kind of ['timeout', 'transport', 'malformed'] as const) {
    t.match(classifyBroadcastError(new RpcError(kind, 'x')), { outcome: { kind: 'unknown' }, hasJudged: false }, kind);
  }
  t.match(classifyBroadcastError(new RpcError('node', 'invalid_xdr', { code: -32_602 })), {
    outcome: { kind: 'refused' },
  });
  t.match(classifyBroadcastError(new RpcError('node', 'internal', { code: -32_603 })), {
    outcome: { kind: 'unknown' },
  });
  t.end();
});

t.test('why it failed on the chain', (t) => {
  const underfunded = xdr.OperationResult.opInner(
    xdr.OperationResultTr.payment(xdr.PaymentResult.fromXdrObject({ code: -2 })),
  );
  const paid = xdr.OperationResult.opInner(xdr.OperationResultTr.payment(xdr.PaymentResult.fromXdrObject({ code: 0 })));
  t.equal(
    failureReason(resultOf(Result.txFailed([paid, underfunded]))),
    'Transaction failed on-chain. reason=TxFailed op=PaymentUnderfunded',
  );
  t.equal(
    failureReason(resultOf(Result.txFailed([xdr.OperationResult.opBadAuth()]))),
    'Transaction failed on-chain. reason=TxFailed op=OpBadAuth',
  );
  const trapped = xdr.OperationResult.opInner(
    xdr.OperationResultTr.invokeHostFunction(xdr.InvokeHostFunctionResult.invokeHostFunctionTrapped()),
  );
  t.equal(
    failureReason(resultOf(Result.txFailed([trapped])), ['no event']),
    'Transaction failed on-chain. reason=TxFailed op=Trapped',
  );
  t.equal(failureReason(resultOf(Result.txBadAuth())), 'Transaction failed on-chain. reason=TxBadAuth');
  t.equal(failureReason('!'), 'Transaction failed on-chain. reason=unknown');
  t.equal(failureReason(undefined), 'Transaction failed on-chain. reason=unknown');
  t.end();
});

t.test('diagnostics', async (t) => {
  const { scvError, scvSymbol, scvString, scvVec, scvU32 } = xdr.ScVal;
  const contract = xdr.ScError.sceContract;

  function event(topics: xdr.ScVal[], data: xdr.ScVal): string {
    const body = xdr.ContractEventBody.v0(new xdr.ContractEventV0({ topics, data }));
    const type = xdr.ContractEventType.diagnostic;
    const told = new xdr.ContractEvent({ ext: xdr.ExtensionPoint.v0(), contractId: null, type, body });
    return new xdr.DiagnosticEvent({ inSuccessfulContractCall: false, event: told }).toXdr('base64');
  }

  const error = (of: xdr.ScError, data: xdr.ScVal) => event([scvSymbol('error'), scvError(of)], data);

  t.test('the first error is told, with what is said beside it', (t) => {
    const call = event([scvSymbol('fn_call')], scvU32(1));
    t.equal(
      contractErrorIn([
        call,
        error(contract(10), scvVec([scvString('not enough'), scvU32(1)])),
        error(contract(11), scvU32(1)),
      ]),
      'contract_error=Contract(10) message="not enough"',
    );
    const auth = xdr.ScError.sceAuth(xdr.ScErrorCode.scecInvalidAction);
    t.equal(
      contractErrorIn([error(auth, scvString('no "one"'))]),
      'contract_error=Auth(InvalidAction) message="no \\"one\\""',
    );
    t.equal(contractErrorIn([error(auth, scvU32(1))]), 'contract_error=Auth(InvalidAction)');
    t.equal(contractErrorIn([event([], scvError(contract(1)))]), 'contract_error=Contract(1)', 'also in the data');
    t.equal(
      contractErrorIn([error(auth, scvVec([scvSymbol('burn')]))]),
      'contract_error=Auth(InvalidAction) message="burn"',
    );
    t.end();
  });

  t.test('what cannot be read tells nothing, and no text is long or acts on a terminal', (t) => {
    t.equal(contractErrorIn([]), undefined);
    t.equal(contractErrorIn(['AAAA', 'no']), undefined);
    const said = contractErrorIn(['AAAA', error(contract(1), scvString(`\u001b[31m${'x'.repeat(1_000)}`))]) ?? '';
    t.notMatch(said, /\u001b/);
    t.ok(said.length < 300);
    t.end();
  });
});
