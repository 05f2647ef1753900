import type { Chain } from './chain.ts';
import type { ChainFamily } from './family.ts';

/**
 * Makes a chain that loads its code at the first access to a property beyond those of its family. A service that has
 * relayers of one family runs without the code of the others.
 */
export function whenNeeded(family: ChainFamily, load: () => Chain): Chain {
  let loaded: Chain | undefined;
  const whole = (): Chain => {
    loaded ??= load();
    return loaded;
  };
  return new Proxy({} as Chain, {
    get: (_chain, name) => Reflect.get(loaded ?? (name in family ? family : whole()), name),
    has: (_chain, name) => name in whole(),
    ownKeys: () => Reflect.ownKeys(whole()),
    getOwnPropertyDescriptor: (_chain, name) => Reflect.getOwnPropertyDescriptor(whole(), name),
  });
}
