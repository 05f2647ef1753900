import type { xdr } from '@stellar/stellar-sdk';
import type { Landed } from '../node/closed-ledger.ts';
import type { Admission } from '../node/queue.ts';
import { envelopeIn } from '../rpc/params.ts';
import type { View } from '../rpc/view.ts';
import { type Frame, frameOf } from '../transactions/frame.ts';
import { PROBLEMS, Problem } from './problem.ts';
import { resultCodes } from './result-codes.ts';

/** As many ledgers as Stellar closes in half a minute. Tests count ledgers, not time. */
const MAX_LEDGERS = 6;

/** Submits a transaction, and waits until it is on the chain. @throws Problem */
export async function submit(view: View, raw: string): Promise<{ landed: Landed; hash: string }> {
  const frame = frameIn(view, raw);
  const { hash } = frame;
  const failed = (result: xdr.TransactionResult) =>
    new Problem(PROBLEMS.transactionFailed, {
      envelope_xdr: raw,
      result_xdr: result.toXdr('base64'),
      result_codes: resultCodes(result, hash),
    });
  const judged = (landed: Landed) => {
    if (!landed.isSuccessful) throw failed(landed.result);
    return { landed, hash };
  };
  const known = view.landed(hash);
  if (known !== undefined) return judged(known);
  const admission = offer(view, frame, () => new Problem(PROBLEMS.serverError));
  if (admission.status === 'ERROR') throw failed(admission.outcome.toXdr());
  // Keep waiting as well if the node says that the transaction must be submitted again later.
  const { network } = view;
  const first = network.ledger.latest.sequence;
  const isOver = (last: number) => last < first || last >= first + MAX_LEDGERS;
  while (!isOver(network.ledger.latest.sequence)) {
    await network.nextLedger();
    const landed = view.landed(hash);
    if (landed !== undefined) return judged(landed);
  }
  throw new Problem(PROBLEMS.submissionTimeout, { hash, envelope_xdr: raw });
}

/**
 * Submits a transaction, and returns the node's answer at once.
 * @throws Problem
 */
export function submitAsync(view: View, raw: string) {
  const frame = frameIn(view, raw);
  const admission = offer(
    view,
    frame,
    (error) => new Problem(PROBLEMS.submissionException, { envelope_xdr: raw, error: String(error) }),
  );
  return {
    ...(admission.status === 'ERROR' ? { error_result_xdr: admission.outcome.toXdr().toXdr('base64') } : {}),
    tx_status: admission.status,
    hash: frame.hash,
  };
}

const STATUSES: Readonly<Record<Admission['status'], number>> = {
  PENDING: 201,
  DUPLICATE: 409,
  TRY_AGAIN_LATER: 503,
  ERROR: 400,
};

export function statusOfAsync(resource: unknown): number {
  return STATUSES[(resource as ReturnType<typeof submitAsync>).tx_status];
}

function frameIn(view: View, raw: string): Frame {
  const envelope = envelopeIn(raw);
  if (envelope === undefined) throw new Problem(PROBLEMS.transactionMalformed, { envelope_xdr: raw });
  return frameOf(envelope, view.node.ledger.networkId);
}

function offer({ network, node, offers }: View, frame: Frame, problemOf: (error: unknown) => Problem): Admission {
  offers.push(frame.hash);
  try {
    return network.submit(node, frame);
  } catch (error) {
    throw problemOf(error);
  }
}
