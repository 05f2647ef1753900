import type { xdr } from '@stellar/stellar-sdk';
import { accountOfMuxed } from '../ledger/address.ts';
import { keyToXdr } from '../ledger/entry-key.ts';
import { toLedgerEntry } from '../ledger/entry-xdr.ts';
import type { Change, Stored } from '../ledger/state.ts';
import type { AuthMode } from '../soroban/authorization.ts';
import { declaredFootprint } from '../soroban/declared.ts';
import {
  type Asked,
  type Failed,
  type Simulated,
  simulateFootprintLife,
  simulateInvocation,
} from '../soroban/simulation.ts';
import { type Frame, frameOf } from '../transactions/frame.ts';
import type { Methods } from './method.ts';
import { envelopeIn, type Fields, fieldsOf, mustBeBase64, numberIn, textIn } from './params.ts';
import type { View } from './view.ts';

/** Methods that simulate host functions. */
export const simulationMethods: Methods = {
  simulateTransaction(view, fields) {
    mustBeBase64(fields);
    const envelope = envelopeIn(textIn(fields, 'transaction'));
    // Errors in the call are returned as results, without a ledger.
    const refused = (error: string) => ({ error, latestLedger: 0 });
    if (envelope === undefined) return refused('Could not unmarshal transaction');
    const { inner } = frameOf(envelope, view.node.ledger.networkId);
    const [operation] = inner.tx.operations;
    if (operation === undefined || inner.tx.operations.length !== 1) {
      return refused('Transaction contains more than one operation');
    }
    if (inner.tx.memo.type !== 'memoNone') {
      return refused('Transaction contains a memo. Soroban transactions do not support memos.');
    }
    const mode = authModeIn(fields, operation.body);
    if (typeof mode === 'string') return refused(mode);
    const source = accountOfMuxed(operation.sourceAccount ?? inner.tx.sourceAccount);
    const result = simulate(askedOf(view, source, fields), operation.body, mode, inner);
    return typeof result === 'string' ? refused(result) : answer(result, view.latest.sequence);
  },
};

function simulate(
  asked: Asked,
  body: xdr.OperationBody,
  mode: AuthMode,
  { inner }: Frame,
): Simulated | Failed | string {
  if (body.type === 'invokeHostFunction') return simulateInvocation(asked, body.invokeHostFunctionOp, mode);
  const data = inner.sorobanData;
  if (data !== undefined) return simulateFootprintLife(asked, body, declaredFootprint(data));
  const what = 'To perform a SimulateTransaction for ExtendFootprintTtl or RestoreFootprint operations';
  return `${what}, SorobanTransactionData must be provided`;
}

function askedOf(view: View, source: string, fields: Fields): Asked {
  const leeway = numberIn(fieldsOf(fields['resourceConfig']), 'instructionLeeway');
  const { node, latest } = view;
  return { state: node.state, header: latest, networkId: node.ledger.networkId, source, leeway };
}

/** The requested mode, or the reason why it is invalid. */
function authModeIn(fields: Fields, body: xdr.OperationBody): AuthMode | string {
  const asked = textIn(fields, 'authMode');
  const known = ['enforce', 'record', 'record_allow_nonroot'];
  if (asked !== '' && !known.includes(asked)) {
    return `optional 'authMode' must be one of ${known.join(',')} when included`;
  }
  const recording = (allowsNonRoot: boolean): AuthMode => ({
    kind: 'recording',
    allowsNonRoot,
    isUpgraded: fields['useUpgradedAuth'] === true,
  });
  if (body.type === 'invokeHostFunction') {
    const entries = body.invokeHostFunctionOp.auth;
    if (asked === 'enforce' || (asked === '' && entries.length > 0)) return { kind: 'enforcing', entries };
    if (entries.length > 0) return `cannot set authMode to '${asked}' with an auth footprint`;
    return recording(asked === 'record_allow_nonroot');
  }
  if (body.type === 'extendFootprintTtl' || body.type === 'restoreFootprint') {
    return asked === '' ? recording(false) : 'cannot set authMode with non-InvokeHostFunction operations';
  }
  return `transaction contains unsupported operation type: ${body.type}`;
}

function answer(result: Simulated | Failed, latestLedger: number) {
  const events = result.diagnostics.map((event) => event.toXdr('base64'));
  const told = events.length === 0 ? {} : { events };
  if ('error' in result) return { error: result.error, ...told, latestLedger };
  const { data, auth, returnValue, changes } = result;
  return {
    transactionData: data.toXdr('base64'),
    ...told,
    minResourceFee: String(data.resourceFee),
    ...(returnValue === undefined
      ? {}
      : { results: [{ auth: auth.map((entry) => entry.toXdr('base64')), xdr: returnValue.toXdr('base64') }] }),
    ...(changes.length === 0 ? {} : { stateChanges: changes.map(changeAnswer) }),
    latestLedger,
  };
}

function changeAnswer({ before, after }: Change) {
  const [was, is] = [before, after].map((stored) => stored && entryXdr(stored));
  const some = after ?? before;
  return {
    type: before === undefined ? 'created' : after === undefined ? 'deleted' : 'updated',
    key: some && keyToXdr(some.entry).toXdr('base64'),
    before: was ?? null,
    after: is ?? null,
  };
}

const entryXdr = ({ entry, modified }: Stored): string => toLedgerEntry(entry, modified).toXdr('base64');
