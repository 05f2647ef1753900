import type { ReadOne } from '../../../egress/rpc/rpc-client.ts';
import type { SolanaPolicy } from '../configuration/policy.ts';
import type { Message } from '../message/compiled-message.ts';
import { accountsAt } from '../provider.ts';
import { readTokenAccount } from '../tokens/token-account.ts';
import { accountsMade, tokenTransfers } from './token-transfers.ts';

/**
 * Why the policies forbid the tokens that a transaction moves; undefined when they allow them. Where a transfer does
 * not name its token, its source account tells it.
 * @param keys all accounts of the message; accounts from lookup tables come last
 */
export async function tokenFault(
  read: ReadOne,
  message: Message,
  keys: readonly string[],
  { allowedTokens }: SolanaPolicy,
): Promise<string | undefined> {
  if (allowedTokens.length === 0) return undefined;
  const transfers = tokenTransfers(message, keys);
  const unnamed = [...new Set(transfers.flatMap(({ mint, source }) => (mint === null ? [source] : [])))];
  const sources = unnamed.length === 0 ? [] : await accountsAt(read, unnamed);
  const mintOf = new Map(unnamed.map((source, index) => [source, readTokenAccount(sources[index])?.mint]));
  const made = accountsMade(message, keys);
  for (const { mint, source } of transfers) {
    if (mint === null && made.has(source))
      return `Policy violation: ${source} is made in the transaction that moves its tokens`;
    const moved = mint ?? mintOf.get(source);
    if (moved === undefined) return `Policy violation: ${source} is not a token account`;
    if (!allowedTokens.some((token) => token.mint === moved)) {
      return `Policy violation: Token ${moved} not allowed for transfers`;
    }
  }
  return undefined;
}
