import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import { balance, type Simulation, simulate } from '../provider.ts';

/** The most that a trial may take from its fee payer. */
export interface LossBound {
  payer: string;
  /** The transaction to be signed, in base64. */
  trial: string;
  replacesBlockhash: boolean;
  /** The fee, and the rent that the transaction may pay, in lamports. */
  most: bigint;
}

/**
 * Why a transaction takes more from its fee payer than it may. A trial shows the whole loss, with all that programs do.
 * Undefined where the loss is within the bound, or the node does not tell. Other transactions move the balance too, so
 * an apparent loss is tried again, between two reads of the balance.
 * @param funds the account's balance at about the time of the trial
 */
export async function lossShown(
  read: ReadOne,
  tried: Simulation,
  funds: bigint,
  { payer, trial, replacesBlockhash, most }: LossBound,
): Promise<string | undefined> {
  const isWithin = (shown: Simulation, before: bigint) => {
    const left = leftIn(shown);
    return left === undefined || left + most >= before;
  };
  if (isWithin(tried, funds)) return undefined;
  const before = await balance(read, payer);
  const again = await simulate(read, trial, { replacesBlockhash, after: [payer] });
  const after = await balance(read, payer);
  const least = before < after ? before : after;
  if (isWithin(again, least)) return undefined;
  return `Policy violation: It takes ${least - (leftIn(again) ?? 0n)} lamports from the relayer account, of which its fee and rent are ${most}`;
}

/** The fee payer's balance after the trial; undefined where the node does not tell, zero where the account is gone. */
export function leftIn({ error, accounts: [account] }: Simulation): bigint | undefined {
  if (error !== null || account === undefined) return undefined;
  return account?.lamports ?? 0n;
}
