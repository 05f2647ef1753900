import { xdr } from '@stellar/stellar-sdk/base';
import t from 'tap';
import { contractErrorIn } from '../../../../../../src/chains/stellar/inclusion/diagnostics.ts';

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
