import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import { balance, type Simulation, simulate } from '../provider.ts';

/** What a trial has to show of its fee payer. */
export interface LossBound {
  payer: string;
  /** Base64 of what is to be signed. */
  trial: string;
  replacesBlockhash: boolean;
  /** Its fee, and the rent that it may pay, in lamports. */
  most: bigint;
}

/**
 * Why a transaction takes more than it may from its fee payer, as a trial shows, with all that programs do. Undefined
 * where it takes no more, or the node does not tell. Others move the balance too: what looks like a loss is tried again
 * between two looks at it.
 * @param funds what the account had at about the time of the trial
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

/** What is left on the one account that was asked for; undefined where the node does not tell. One that is gone has nothing. */
function leftIn({ error, accounts: [account] }: Simulation): bigint | undefined {
  if (error !== null || account === undefined) return undefined;
  return account?.lamports ?? 0n;
}
