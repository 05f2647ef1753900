import { xdr } from '@stellar/stellar-sdk/base';
import type { Json, JsonObject } from '../../src/domain/json/json.ts';
import type { ReadFromEndpoint } from '../../src/egress/rpc/rpc-client.ts';

/** The resource fee of a contract's transaction at the nodes below, in stroops. */
export const RESOURCES = 4_000n;

const data = new xdr.SorobanTransactionData({
  ext: xdr.SorobanTransactionDataExt.v0(),
  resources: new xdr.SorobanResources({
    footprint: new xdr.LedgerFootprint({ readOnly: [], readWrite: [] }),
    instructions: 5,
    diskReadBytes: 0,
    writeBytes: 0,
  }),
  resourceFee: RESOURCES,
}).toXdr('base64');

/** A node's answer to a call that went well. */
export const ran = (
  auth: readonly xdr.SorobanAuthorizationEntry[] = [],
  returned: xdr.ScVal = xdr.ScVal.scvVoid(),
): JsonObject => ({
  transactionData: data,
  minResourceFee: String(RESOURCES),
  results: [{ auth: auth.map((entry) => entry.toXdr('base64')), xdr: returned.toXdr('base64') }],
});

export interface Simulating {
  /** By the function's name. */
  calls: Readonly<Record<string, Json | ((call: xdr.InvokeContractArgs) => Json)>>;
  /** In the ledger. */
  entries?: readonly JsonObject[];
}

/** A node on ledger 60, after 900 s. It has the given results of calls; all other calls fail. */
export function simulating({ calls, entries = [] }: Simulating): ReadFromEndpoint {
  return async (method, params, parse) => {
    if (method === 'getLatestLedger') return parse({ sequence: 60, closeTime: '900' });
    if (method === 'getFeeStats') return parse({ inclusionFee: { p90: '100' }, sorobanInclusionFee: { p90: '100' } });
    if (method === 'getLedgerEntries') return parse({ latestLedger: 60, entries: [...entries] });
    const call = callIn(String((params as JsonObject)['transaction']));
    const told = calls[call.functionName.toString()] ?? { error: 'HostError: Error(Contract, #7)' };
    return parse(typeof told === 'function' ? told(call) : told);
  };
}

function callIn(text: string): xdr.InvokeContractArgs {
  const envelope = xdr.TransactionEnvelope.fromXdr(text, 'base64');
  const body = envelope.type === 'envelopeTypeTx' ? envelope.v1.tx.operations[0]?.body : undefined;
  const asked = body?.type === 'invokeHostFunction' ? body.invokeHostFunctionOp.hostFunction : undefined;
  if (asked?.type !== 'hostFunctionTypeInvokeContract') throw new Error('only calls of contracts are simulated');
  return asked.invokeContract;
}
