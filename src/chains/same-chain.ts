import type { Chain } from './chain.ts';

/** Whether two identities are those of one chain, or of two starts of one. */
export function isSameChain(chain: Pick<Chain, 'restartable'> | undefined, one: string, other: string): boolean {
  if (one === other) return true;
  const name = chain?.restartable?.(one);
  return name !== undefined && name === chain?.restartable?.(other);
}
