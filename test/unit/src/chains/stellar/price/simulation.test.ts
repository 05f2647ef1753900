import { xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { amountValue } from '../../../../../../src/chains/stellar/message/contract.ts';
import {
  isToken,
  readContract,
  simulateOperation,
  tokenBalance,
} from '../../../../../../src/chains/stellar/price/simulation.ts';
import type { Json, JsonObject } from '../../../../../../src/domain/json/json.ts';
import type { ReadFromEndpoint } from '../../../../../../src/egress/rpc/rpc-client.ts';
import { RELAYER } from '../../../../../support/stellar-relayer.ts';
import { nodeWith, TOKEN } from '../../../../../support/stellar-swap-scene.ts';

const resources = new xdr.SorobanResources({
  footprint: new xdr.LedgerFootprint({ readOnly: [], readWrite: [] }),
  instructions: 5,
  diskReadBytes: 0,
  writeBytes: 0,
});
const data = new xdr.SorobanTransactionData({
  ext: xdr.SorobanTransactionDataExt.v0(),
  resources,
  resourceFee: 1n,
}).toXdr('base64');
const ran = {
  transactionData: data,
  minResourceFee: '4000',
  results: [{ auth: [], xdr: 'AAAAAQ==' }],
  latestLedger: 7,
};

const source = RELAYER.xdrMuxedAccount();
const body = xdr.OperationBody.restoreFootprint(new xdr.RestoreFootprintOp({ ext: xdr.ExtensionPoint.v0() }));
const operation = new xdr.Operation({ sourceAccount: null, body });
const plain = { source, operation, data: null, isBare: false };

function asking(answer: Json) {
  const asked: JsonObject[] = [];
  const read: ReadFromEndpoint = async (method, params, parse) => {
    asked.push({ method, params });
    return parse(answer);
  };
  return { read, asked };
}

const found = (answer: Json) => simulateOperation(asking(answer).read, plain);

t.test('what it uses costs what the node asks for it', async (t) => {
  const told = await found(ran);
  t.match(told, { kind: 'ran', fee: 4_000n, consents: [] });
  t.equal(told.kind === 'ran' && told.data.resourceFee, 4_000n);
  t.match(await found({ ...ran, results: null }), { kind: 'ran' }, 'an operation may give nothing back');
  t.match(await found({ restorePreamble: { transactionData: data, minResourceFee: '30' }, ...ran }), {
    kind: 'archived',
    data: { resourceFee: 30n },
  });
});

t.test('a failure is told by its first line, without a log', async (t) => {
  t.strictSame(
    await found({ error: 'HostError: Error(Contract, #1)\n\nEvent log:\n  0: secret\u001b[0m', latestLedger: 7 }),
    {
      kind: 'failed',
      reason: 'Stellar transaction simulation failed: HostError: Error(Contract, #1)',
    },
  );
  const { reason } = (await found({ error: `HostError: Error(Contract, #1) ${'x'.repeat(5_000)}`, events: null })) as {
    reason: string;
  };
  t.ok(reason.length < 600);
});

t.test('a trouble of the node is no answer about the call', async (t) => {
  for (const error of [
    'preflight queue full',
    'context deadline exceeded',
    'missing meta for latest ledger (58000012)',
    'sql: database is closed',
    'HostError: Error(Storage, InternalError)\n\nEvent log',
    'panic during GetPreflight',
  ]) {
    await t.rejects(found({ error, latestLedger: 7 }), { name: 'EndpointUnfit' }, error);
  }
  for (const error of [
    'HostError: Error(Budget, ExceededLimit)',
    'HostError: Error(Auth, InvalidAction)',
    'Transaction contains more than one operation',
    'Could not unmarshal transaction',
  ]) {
    t.match(await found({ error, latestLedger: 7 }), { kind: 'failed' }, error);
  }
});

t.test('consents are enforced where none may be found', async (t) => {
  const { read, asked } = asking(ran);
  await simulateOperation(read, plain);
  await simulateOperation(read, { ...plain, isBare: true });
  const given = xdr.SorobanTransactionData.fromXdr(data, 'base64');
  await simulateOperation(read, { ...plain, data: given });
  t.match(asked, [
    { method: 'simulateTransaction', params: { transaction: /^AAAA/, authMode: undefined } },
    { params: { authMode: 'enforce' } },
    { params: { transaction: /^AAAA/ } },
  ]);
});

t.test('nonsense is none of these', async (t) => {
  for (const bad of [
    null,
    [],
    {},
    { transactionData: data },
    { ...ran, minResourceFee: -1 },
    { ...ran, transactionData: 'AAAA' },
    { ...ran, results: [{ auth: ['AAAA'] }] },
    { ...ran, error: 5 },
    { restorePreamble: { transactionData: data } },
  ] as Json[]) {
    await t.rejects(found(bad), JSON.stringify(bad));
  }
});

t.test('token', async (t) => {
  const relayer = RELAYER.publicKey();

  t.test('a token tells what somebody has, and how it is divided', async (t) => {
    const node = nodeWith({
      balance: ([who]) => ({ value: amountValue(who === relayer ? 9n : 0n) }),
      decimals: () => ({ value: xdr.ScVal.scvU32(7) }),
    });
    t.equal(await tokenBalance(node, TOKEN, relayer), 9n);
    t.ok(await isToken(node, TOKEN));
  });

  t.test('what fails or tells something else is no token, and nothing of it is held', async (t) => {
    t.equal(await tokenBalance(nodeWith({}), TOKEN, relayer), 0n);
    t.notOk(await isToken(nodeWith({}), TOKEN));
    t.notOk(await isToken(nodeWith({ decimals: () => ({ value: amountValue(7n) }) }), TOKEN));
    const odd = nodeWith({ balance: () => ({ value: xdr.ScVal.scvU32(7) }) });
    await t.rejects(tokenBalance(odd, TOKEN, relayer), TypeError);
    const asked = { contract: TOKEN, name: 'fails', args: [] };
    t.match(await readContract(nodeWith({ fails: () => 'why' }), asked), /simulation failed: .* why$/);
  });
});
