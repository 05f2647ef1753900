import { StrKey, scValToNative, xdr } from '@stellar/stellar-sdk';
import type { AnswerBody } from '../../../../support/service.ts';
import type { Shown } from '../chain.ts';

/** The mark of an envelope in base64; null if it only consumes a sequence. */
export function markOfEnvelope(text: string): string | null {
  const read = xdr.TransactionEnvelope.fromXdr(text, 'base64');
  if (read.type === 'envelopeTypeTxV0') throw new Error('nobody writes the first form');
  const { tx } = read.type === 'envelopeTypeTx' ? read.v1 : read.feeBump.tx.innerTx.v1;
  const marks = tx.operations.map(({ body }) => markOfBody(body)).filter((mark) => mark !== null);
  return marks.length === 0 ? null : marks.join(' and ');
}

function markOfBody(body: xdr.OperationBody): string | null {
  switch (body.type) {
    case 'bumpSequence':
      return null;
    case 'payment': {
      const { destination, amount } = body.paymentOp;
      const key = destination.type === 'keyTypeEd25519' ? destination.ed25519 : destination.med25519.ed25519;
      return `${amount} to ${StrKey.encodeEd25519PublicKey(key.toBytes())}`;
    }
    case 'invokeHostFunction': {
      const { hostFunction } = body.invokeHostFunctionOp;
      if (hostFunction.type !== 'hostFunctionTypeInvokeContract') return hostFunction.type;
      const [, to, amount] = hostFunction.invokeContract.args.map((value) => String(scValToNative(value)));
      return `${amount} to ${to}`;
    }
    default:
      return body.type;
  }
}

/**
 * A transaction as the API shows it. The API does not show its effect, so the effect is looked up by its hash after the
 * chain was read.
 * @param marks by hash; filled when the chain is read
 */
export function readShown(shown: AnswerBody, marks: ReadonlyMap<string, string | null>): Shown {
  const { id, status, status_reason: reason = null, hash, source_account: source, sequence_number: sequence } = shown;
  return {
    id,
    status,
    reason,
    hash: hash ?? null,
    get effect() {
      return marks.get(hash) ?? 'not known';
    },
    anchor: sequence === '0' ? null : `${source} ${sequence}`,
    bytes: null,
  };
}
