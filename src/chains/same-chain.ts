import type { Chain } from './chain.ts';

/** Whether two identities belong to one chain, or to two starts of one chain. */
export function isSameChain(chain: Pick<Chain, 'restartable'> | undefined, one: string, other: string): boolean {
  if (one === other) return true;
  const name = chain?.restartable?.(one);
  return name !== undefined && name === chain?.restartable?.(other);
}
